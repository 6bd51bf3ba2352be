import { badInput } from '../../errors.ts';
import { lineEndsIn, RecordCutter } from './record-cutter.ts';

/** One line of a file, counted from 1. */
interface Line {
  line: number;
  text: string;
}

const MAX_LINE = 262_144;

/**
 * Splits a text that arrives in pieces into lines, without empty ones. Throws BAD_USER_INPUT for one that is too long.
 */
export class LineReader {
  readonly #cutter = new RecordCutter(lineEndsIn);
  #line = 1;

  read(piece: string): Line[] {
    const lines: Line[] = [];
    for (const text of this.#cutter.cut(piece)) this.#add(lines, text);
    this.#check(this.#cutter.unfinished);
    return lines;
  }

  /** The last line, when no line break ends it. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#add(lines, this.#cutter.rest());
    return lines;
  }

  #add(lines: Line[], text: string): void {
    this.#check(text.length);
    const line = this.#line;
    this.#line += 1;
    const trimmed = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim();
    if (trimmed !== '') lines.push({ line, text: trimmed });
  }

  #check(length: number): void {
    if (length > MAX_LINE) throw badInput(`Line ${this.#line} is longer than ${MAX_LINE} characters.`);
  }
}

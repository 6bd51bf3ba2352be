import { badInput } from '../../errors.ts';

/** One line of a file, counted from 1. */
interface Line {
  line: number;
  text: string;
}

const MAX_LINE = 262_144;

/** Lines of a text that comes in pieces; empty ones are left out. Throws BAD_USER_INPUT for one that never ends. */
export class LineReader {
  #rest = '';
  #line = 1;

  read(piece: string): Line[] {
    const parts = (this.#rest + piece).split('\n');
    this.#rest = parts.pop() ?? '';
    if (this.#rest.length > MAX_LINE)
      throw badInput(`Line ${this.#line + parts.length} is longer than ${MAX_LINE} characters.`);
    const lines: Line[] = [];
    for (const text of parts) this.#add(lines, text);
    return lines;
  }

  /** The last line, when no line break ends it. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#add(lines, this.#rest);
    this.#rest = '';
    return lines;
  }

  #add(lines: Line[], text: string): void {
    const line = this.#line;
    this.#line += 1;
    const trimmed = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim();
    if (trimmed !== '') lines.push({ line, text: trimmed });
  }
}

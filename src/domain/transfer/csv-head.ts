import { badInput } from '../../errors.ts';
import { RecordCutter } from './record-cutter.ts';

/** What may stand between the cells of a line. */
export type Delimiter = string;

/** How a CSV begins: where its headings are, what stands between the cells. */
export interface HeadOfCsv {
  delimiter: Delimiter;
  /** Of the headings, from 1. */
  line: number;
  /** From the headings on. */
  text: string;
}

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t'];
/** As spreadsheets say it on a line of its own. */
const SAID = /^\s*"?sep=([^"\r\n])"?\s*$/i;
const TIME_HEADING = /^["\s]*timestamp["\s]*$/i;
/** In characters. */
const MAX_HEADINGS = 262_144;

/**
 * Reads the beginning of a CSV that comes in pieces: passes over empty lines, comments (`#`) and `sep=;`, and tells from
 * the headings whether commas, semicolons or tabs stand between the cells.
 */
export class CsvHead {
  readonly #cutter = new RecordCutter(firstEndIn);
  #said: Delimiter | null = null;
  #line = 1;
  #hasBegun = false;

  /** Null until the headings are there whole. Throws BAD_USER_INPUT for a longer line than a file may have. */
  read(piece: string): HeadOfCsv | null {
    let text = this.#hasBegun ? piece : piece.replace(/^\uFEFF/, '');
    this.#hasBegun ||= piece !== '';
    if (this.#cutter.unfinished === 0) text = this.#withoutEmptyLines(text);
    for (;;) {
      const [line] = this.#cutter.cut(text);
      if (line === undefined || line.length > MAX_HEADINGS) {
        if ((line?.length ?? this.#cutter.unfinished) <= MAX_HEADINGS) return null;
        throw badInput(`Line ${this.#line} is longer than ${MAX_HEADINGS} characters; is a quote left open?`);
      }
      const rest = this.#cutter.rest();
      if (!this.#isBeforeHeadings(line)) return this.#headOf(line, `${line}\n${rest}`);
      this.#line += 1;
      text = this.#withoutEmptyLines(rest);
    }
  }

  /** The headings that no line break ends; null: the file has none. */
  end(): HeadOfCsv | null {
    const line = this.#cutter.rest();
    return this.#isBeforeHeadings(line) ? null : this.#headOf(line, line);
  }

  #headOf(line: string, text: string): HeadOfCsv {
    return { delimiter: this.#said ?? delimiterOf(line), line: this.#line, text };
  }

  #isBeforeHeadings(line: string): boolean {
    const said = SAID.exec(line)?.[1];
    if (said !== undefined) this.#said = said;
    return said !== undefined || line.startsWith('#') || line.trim() === '';
  }

  #withoutEmptyLines(text: string): string {
    let at = 0;
    for (; text[at] === '\n' || (text[at] === '\r' && text[at + 1] === '\n'); at += 1)
      if (text[at] === '\n') this.#line += 1;
    return at === 0 ? text : text.slice(at);
  }
}

function firstEndIn(piece: string): number[] {
  const end = piece.indexOf('\n');
  return end < 0 ? [] : [end];
}

/** The first by which one of the headings is the time's; else what stands there most often. */
function delimiterOf(headings: string): Delimiter {
  const unquoted = headings.replace(/"[^"]*"/g, (text) => text.replace(/[,;\t]/g, ' '));
  const parts = DELIMITERS.map((delimiter) => unquoted.split(delimiter));
  const found = parts.findIndex((cells) => cells.some((cell) => TIME_HEADING.test(cell)));
  const most = Math.max(...parts.map(({ length }) => length));
  return DELIMITERS[found >= 0 ? found : parts.findIndex(({ length }) => length === most)]!;
}

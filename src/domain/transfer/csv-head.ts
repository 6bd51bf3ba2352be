import { badInput } from '../../errors.ts';
import { RecordCutter } from './record-cutter.ts';
import { must } from '../../must.ts';

/** The character between the cells of a line. */
export type Delimiter = string;

/** The begin of a CSV: the place of its headings, and its delimiter. */
export interface HeadOfCsv {
  delimiter: Delimiter;
  /** Line of the headings, from 1. */
  line: number;
  /** The text from the headings on. */
  text: string;
}

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t'];
/** The line by which spreadsheets declare the delimiter. */
const SAID = /^\s*"?sep=([^"\r\n])"?\s*$/i;
/** Maximum characters of the headings. */
const MAX_HEADINGS = 262_144;

/**
 * Reads the begin of a CSV that arrives in pieces: skips empty lines, comments (`#`) and `sep=;`, and decides by the
 * headings whether commas, semicolons or tabs separate the cells.
 */
export class CsvHead {
  readonly #times: readonly string[];
  readonly #cutter = new RecordCutter(firstEndIn);
  #said: Delimiter | null = null;
  #line = 1;
  #hasBegun = false;

  /** `times`: headings of which one is the time's, in small letters. */
  constructor(times: readonly string[] = ['timestamp']) {
    this.#times = times;
  }

  /** The begin once the headings are complete; null until then. Throws BAD_USER_INPUT for a line above the maximum. */
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

  /** Headings without a line break at the end; null: the file has none. */
  end(): HeadOfCsv | null {
    const line = this.#cutter.rest();
    return this.#isBeforeHeadings(line) ? null : this.#headOf(line, line);
  }

  #headOf(line: string, text: string): HeadOfCsv {
    return { delimiter: this.#said ?? delimiterOf(line, this.#times), line: this.#line, text };
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

/** The first delimiter for which one of the headings is the time's; else the most frequent one. */
function delimiterOf(headings: string, times: readonly string[]): Delimiter {
  const unquoted = headings.replace(/"[^"]*"/g, (text) => text.replace(/[,;\t]/g, ' '));
  const parts = DELIMITERS.map((delimiter) => unquoted.split(delimiter));
  const found = parts.findIndex((cells) =>
    cells.some((cell) => times.includes(cell.replaceAll('"', '').trim().toLowerCase())),
  );
  const most = Math.max(...parts.map(({ length }) => length));
  return must(DELIMITERS[found >= 0 ? found : parts.findIndex(({ length }) => length === most)]);
}

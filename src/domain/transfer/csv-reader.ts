import { badInput } from '../../errors.ts';
import { CsvEnds } from './csv-ends.ts';
import { CsvHead, type Delimiter, type HeadOfCsv } from './csv-head.ts';
import { RecordCutter } from './record-cutter.ts';
import { must } from '../../must.ts';

/** One record of a CSV file. `quoted`: the cells that stood in quotes (an empty one then is an empty text). */
export interface CsvRecord {
  /** Its first line in the file, from 1. */
  line: number;
  cells: string[];
  quoted: boolean[];
}

/** Maximum characters of a record, which also limits the effect of an unclosed quote. */
const MAX_RECORD = 262_144;
const MAX_CELLS = 2_000;
const NAMES = new Map<Delimiter, string>([
  [',', 'a comma'],
  [';', 'a semicolon'],
  ['\t', 'a tab'],
]);

/**
 * Reads CSV (RFC 4180, also with semicolons or tabs) that arrives in pieces, from its headings on; lines end by LF or
 * CRLF. Throws BAD_USER_INPUT for invalid CSV.
 */
export class CsvReader {
  readonly #head: CsvHead;
  #delimiter: Delimiter | null = null;
  #ends = new CsvEnds(',');
  #cutter = new RecordCutter(this.#ends.in);
  #line = 1;

  /** `times`: headings of which one is the time's, in small letters; the delimiter is known by it. */
  constructor(times?: readonly string[]) {
    this.#head = new CsvHead(times);
  }

  /** The delimiter; null: the headings have not arrived. */
  get delimiter(): Delimiter | null {
    return this.#delimiter;
  }

  /** Yields the records that are complete by now, each parsed when taken; skips empty lines. */
  *read(piece: string): Generator<CsvRecord> {
    const text = this.#delimiter === null ? this.#begin(this.#head.read(piece)) : piece;
    if (text === null) return;
    for (const record of this.#cutter.cut(text)) yield* this.#recordOf(record);
    checkLength(this.#cutter.unfinished, this.#line);
    checkCells(this.#ends.cells, this.#line);
  }

  /** Yields the last record, when no line break ends it. */
  *end(): Generator<CsvRecord> {
    if (this.#delimiter === null) {
      const text = this.#begin(this.#head.end());
      if (text === null) return;
      yield* this.read(text);
    }
    if (this.#ends.isQuoted) throw badInput(`Line ${this.#line}: a quote is left open.`);
    yield* this.#recordOf(this.#cutter.rest());
  }

  #begin(head: HeadOfCsv | null): string | null {
    if (head === null) return null;
    this.#delimiter = head.delimiter;
    this.#ends = new CsvEnds(head.delimiter);
    this.#cutter = new RecordCutter(this.#ends.in);
    this.#line = head.line;
    return head.text;
  }

  *#recordOf(whole: string): Generator<CsvRecord> {
    const line = this.#line;
    checkLength(whole.length, line);
    const text = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    this.#line += 1;
    if (text === '') return;
    if (text.includes('"')) {
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#line += 1;
      yield withQuotes(text, line, must(this.#delimiter));
    } else {
      const cells = text.split(must(this.#delimiter), MAX_CELLS + 1);
      checkCells(cells.length, line);
      yield { line, cells, quoted: [] };
    }
  }
}

function withQuotes(text: string, line: number, delimiter: Delimiter): CsvRecord {
  const cells: string[] = [];
  const quoted: boolean[] = [];
  // A delimiter at the very end begins one more, empty cell.
  for (let at = 0; at <= text.length; at += 1) {
    const isQuoted = text[at] === '"';
    let cell: string;
    if (isQuoted) {
      const end = closingQuote(text, at + 1);
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      if (at < text.length && text[at] !== delimiter)
        throw badInput(
          `Line ${line}: expected ${NAMES.get(delimiter) ?? `"${delimiter}"`} behind the closing quote, got "${text.slice(at, at + 20)}".`,
        );
    } else {
      const end = text.indexOf(delimiter, at);
      cell = text.slice(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end;
    }
    cells.push(cell);
    quoted.push(isQuoted);
    checkCells(cells.length, line);
  }
  return { line, cells, quoted };
}

function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function checkLength(length: number, line: number): void {
  if (length > MAX_RECORD)
    throw badInput(`Line ${line} is longer than ${MAX_RECORD} characters; is a quote left open?`);
}

function checkCells(count: number, line: number): void {
  if (count > MAX_CELLS) throw badInput(`Line ${line}: more than ${MAX_CELLS} columns.`);
}

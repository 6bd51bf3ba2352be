import { badInput } from '../../errors.ts';

/** One record of a CSV file. `quoted`: which cells stood in quotes (an empty one then is an empty text). */
export interface CsvRecord {
  /** Of its first line in the file, from 1. */
  line: number;
  cells: string[];
  quoted: boolean[];
}

/** A longer record is no measurement; also what an unclosed quote can swallow. */
const MAX_RECORD = 262_144;
const MAX_CELLS = 2_000;

/** Reads CSV (RFC 4180) that comes in pieces; lines end by LF or CRLF. Throws BAD_USER_INPUT for what is none. */
export class CsvReader {
  #rest = '';
  #line = 1;
  #started = false;

  /** The records that are complete by now; empty lines are none. */
  read(piece: string): CsvRecord[] {
    const text = this.#rest + (this.#started || piece === '' ? piece : piece.replace(/^\uFEFF/, ''));
    this.#started ||= piece !== '';
    const records: CsvRecord[] = [];
    let at = 0;
    for (;;) {
      const end = endOfRecord(text, at);
      if (end < 0) break;
      this.#add(records, text.slice(at, text[end - 1] === '\r' ? end - 1 : end));
      at = end + 1;
    }
    this.#rest = at === 0 ? text : text.slice(at);
    if (this.#rest.length > MAX_RECORD)
      throw badInput(`Line ${this.#line} is longer than ${MAX_RECORD} characters; is a quote left open?`);
    return records;
  }

  /** The last record, when no line break ends it. */
  end(): CsvRecord[] {
    const records: CsvRecord[] = [];
    if (endOfRecord(`${this.#rest}\n`, 0) < 0) throw badInput(`Line ${this.#line}: a quote is left open.`);
    this.#add(records, this.#rest.replace(/\r$/, ''));
    this.#rest = '';
    return records;
  }

  #add(records: CsvRecord[], text: string): void {
    const line = this.#line;
    this.#line += 1;
    if (text === '') return;
    if (!text.includes('"')) {
      const cells = text.split(',');
      records.push({ line, cells, quoted: [] });
      checkCells(cells, line);
      return;
    }
    const cells: string[] = [];
    const quoted: boolean[] = [];
    for (let at = 0; at <= text.length;) {
      const isQuoted = text[at] === '"';
      let cell: string;
      if (isQuoted) {
        const end = closingQuote(text, at + 1);
        cell = text.slice(at + 1, end).replaceAll('""', '"');
        at = end + 1;
        if (at < text.length && text[at] !== ',')
          throw badInput(`Line ${line}: expected a comma behind the closing quote, got "${text.slice(at, at + 20)}".`);
      } else {
        const end = text.indexOf(',', at);
        cell = text.slice(at, end < 0 ? text.length : end);
        at = end < 0 ? text.length : end;
      }
      cells.push(cell);
      quoted.push(isQuoted);
      at += 1;
      // A comma at the very end: one more, empty cell.
      if (at === text.length + 1) break;
    }
    for (const character of text) if (character === '\n') this.#line += 1;
    checkCells(cells, line);
    records.push({ line, cells, quoted });
  }
}

/** Where the line break stands that ends the record; -1: not there yet. A quote counts only where a cell begins. */
export function endOfRecord(text: string, from: number): number {
  for (let at = from; ;) {
    const lineBreak = text.indexOf('\n', at);
    const quote = nextOpeningQuote(text, from, at, lineBreak);
    if (quote < 0) return lineBreak;
    const closing = closingQuote(text, quote + 1);
    if (closing < 0) return -1;
    at = closing + 1;
  }
}

/** The first quote that opens a cell between `at` and `before`; -1: none. */
function nextOpeningQuote(text: string, start: number, at: number, before: number): number {
  for (let quote = text.indexOf('"', at); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    if (before >= 0 && quote > before) return -1;
    if (quote === start || text[quote - 1] === ',') return quote;
  }
  return -1;
}

function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2)) if (text[at + 1] !== '"') return at;
  return -1;
}

function checkCells(cells: string[], line: number): void {
  if (cells.length > MAX_CELLS) throw badInput(`Line ${line}: ${cells.length} columns, at most ${MAX_CELLS}.`);
}

import { RowBytes } from './row-bytes.ts';
import { must } from '../../must.ts';

/** Bytes sent at a time. */
export const PIECE = 65_536;

/** A value as clients see it. */
export type ExportedValue = number | boolean | string;

/** One value of a row of the wide layout, with the column of its field. */
export interface Cell {
  readonly column: number;
  readonly value: ExportedValue;
}

/** Writes rows as the text of a file (CONTRACT 8), each ended by a line break, into `out`. */
export interface ExportFormat {
  contentType: string;
  out: RowBytes;
  /** Writes the first line, if the format has one, in pieces: there may be hundreds of thousands of columns. */
  header(): Generator<Uint8Array>;
  /**
   * Sets the common begin of all rows of this device (and, in the long layout, of this field); then call `longRow` /
   * `wideRow`.
   */
  begin(device: string, field: string | null): void;
  longRow(time: number, value: ExportedValue): void;
  /** Writes the values of one time, in the order of the columns. */
  wideRow(time: number, cells: Iterable<Cell>): void;
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;
/** Begins of texts that a spreadsheet would run: OWASP's list. */
const FORMULA = /^[=+\-@\t\r]/;
const [COMMA, LINE_FEED, QUOTE, BRACE] = [44, 10, 34, 125];

/** CSV as in RFC 4180, with lines ended by a line feed. An empty text is `""`, an absent value an empty cell. */
export class CsvFormat implements ExportFormat {
  readonly contentType = 'text/csv; charset=utf-8';
  readonly out = new RowBytes();
  readonly #fields: readonly string[] | null;
  readonly #spreadsheet: boolean;
  #prefix: Uint8Array = new Uint8Array();

  /** `fields`: the columns of the wide layout; null: long. `spreadsheet`: texts that look like formulas get an apostrophe. */
  constructor(fields: readonly string[] | null, spreadsheet: boolean) {
    this.#fields = fields;
    this.#spreadsheet = spreadsheet;
  }

  *header(): Generator<Uint8Array> {
    const { out } = this;
    out.text(this.#fields === null ? 'device,field,timestamp,value' : 'device,timestamp');
    for (const name of this.#fields ?? []) {
      out.byte(COMMA);
      out.text(this.#text(name));
      if (out.length >= PIECE) yield out.take();
    }
    out.byte(LINE_FEED);
  }

  begin(device: string, field: string | null): void {
    this.#prefix = Buffer.from(
      field === null ? `${this.#text(device)},` : `${this.#text(device)},${this.#text(field)},`,
    );
  }

  longRow(time: number, value: ExportedValue): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    out.byte(COMMA);
    this.#cell(value);
    out.byte(LINE_FEED);
  }

  wideRow(time: number, cells: Iterable<Cell>): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    let next = 0;
    for (const { column, value } of cells) {
      out.byte(COMMA, column + 1 - next);
      this.#cell(value);
      next = column + 1;
    }
    out.byte(COMMA, must(this.#fields).length - next);
    out.byte(LINE_FEED);
  }

  #cell(value: ExportedValue): void {
    if (typeof value === 'number') this.out.number(value);
    else this.out.text(typeof value === 'string' ? this.#text(value) : String(value));
  }

  #text(text: string): string {
    const safe = this.#spreadsheet && FORMULA.test(text) ? `'${text}` : text;
    return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }
}

/** One JSON object per line, with the same names as CSV's columns. */
export class NdjsonFormat implements ExportFormat {
  readonly contentType = 'application/x-ndjson';
  readonly out = new RowBytes();
  readonly #fields: readonly string[];
  /** Keys of columns, encoded when first written: most columns are not. */
  readonly #keys: Uint8Array[] = [];
  #prefix: Uint8Array = new Uint8Array();

  constructor(fields: readonly string[] | null) {
    this.#fields = fields ?? [];
  }

  *header(): Generator<Uint8Array> {}

  begin(device: string, field: string | null): void {
    const named = field === null ? '' : `,"field":${JSON.stringify(field)}`;
    this.#prefix = Buffer.from(`{"device":${JSON.stringify(device)}${named},"timestamp":"`);
  }

  longRow(time: number, value: ExportedValue): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    out.text('","value":');
    this.#value(value);
    this.#end();
  }

  wideRow(time: number, cells: Iterable<Cell>): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    out.byte(QUOTE);
    for (const { column, value } of cells) {
      out.raw((this.#keys[column] ??= Buffer.from(`,${JSON.stringify(this.#fields[column])}:`)));
      this.#value(value);
    }
    this.#end();
  }

  #value(value: ExportedValue): void {
    if (typeof value === 'number') this.out.number(value);
    else this.out.text(JSON.stringify(value));
  }

  #end(): void {
    this.out.byte(BRACE);
    this.out.byte(LINE_FEED);
  }
}

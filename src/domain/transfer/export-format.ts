import { RowBytes } from './row-bytes.ts';

/** So many bytes leave at a time. */
export const PIECE = 65_536;

/** A value as clients see it. */
export type ExportedValue = number | boolean | string;

/** Writes rows as the text of a file (CONTRACT 8), each ended by a line break, into `out`. */
export interface ExportFormat {
  contentType: string;
  out: RowBytes;
  /** The first line, if the format has one. */
  header(): void;
  /** What all rows of this device (and, in the long layout, of this field) begin with; then `longRow` / `wideRow`. */
  begin(device: string, field: string | null): void;
  longRow(time: number, value: ExportedValue): void;
  /** One value for each column in the order of `fields`; undefined: nothing was measured then. */
  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): void;
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;
/** What a spreadsheet would run: OWASP's list. */
const FORMULA = /^[=+\-@\t\r]/;
const [COMMA, LINE_FEED, QUOTE, BRACE] = [44, 10, 34, 125];

/** CSV as RFC 4180 has it, lines ended by a line feed. An empty text is `""`, nothing measured is nothing. */
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

  header(): void {
    if (this.#fields === null) this.out.text('device,field,timestamp,value\n');
    else this.out.text(`${['device', 'timestamp', ...this.#fields].map((name) => this.#text(name)).join(',')}\n`);
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

  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    for (const value of values) {
      out.byte(COMMA);
      if (value !== undefined) this.#cell(value);
    }
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

/** One JSON object a line, with the same names as CSV's columns. */
export class NdjsonFormat implements ExportFormat {
  readonly contentType = 'application/x-ndjson';
  readonly out = new RowBytes();
  readonly #keys: readonly Uint8Array[];
  #prefix: Uint8Array = new Uint8Array();

  constructor(fields: readonly string[] | null) {
    this.#keys = (fields ?? []).map((field) => Buffer.from(`,${JSON.stringify(field)}:`));
  }

  header(): void {}

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

  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): void {
    const { out } = this;
    out.raw(this.#prefix);
    out.time(time);
    out.byte(QUOTE);
    values.forEach((value, column) => {
      if (value === undefined) return;
      out.raw(this.#keys[column]!);
      this.#value(value);
    });
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

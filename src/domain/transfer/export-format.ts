import { IsoTime } from './iso-time.ts';

/** A value as clients see it. */
export type ExportedValue = number | boolean | string;

/** Turns rows into the text of a file (CONTRACT 8). What it returns ends with a line break. */
export interface ExportFormat {
  contentType: string;
  /** The first line, if the format has one. */
  header(): string;
  /** What all rows of this device (and, in the long layout, of this field) begin with; then `longRow` / `wideRow`. */
  begin(device: string, field: string | null): void;
  longRow(time: number, value: ExportedValue): string;
  /** One value for each column in the order of `fields`; undefined: nothing was measured then. */
  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): string;
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;
/** What a spreadsheet would run: OWASP's list. */
const FORMULA = /^[=+\-@\t\r]/;

/** CSV as RFC 4180 has it, lines ended by a line feed. An empty text is `""`, nothing measured is nothing. */
export class CsvFormat implements ExportFormat {
  readonly contentType = 'text/csv; charset=utf-8';
  readonly #fields: readonly string[] | null;
  readonly #spreadsheet: boolean;
  readonly #time = new IsoTime();
  #prefix = '';

  /** `fields`: the columns of the wide layout; null: long. `spreadsheet`: texts that look like formulas get an apostrophe. */
  constructor(fields: readonly string[] | null, spreadsheet: boolean) {
    this.#fields = fields;
    this.#spreadsheet = spreadsheet;
  }

  header(): string {
    if (this.#fields === null) return 'device,field,timestamp,value\n';
    return `${['device', 'timestamp', ...this.#fields].map((name) => this.#text(name)).join(',')}\n`;
  }

  begin(device: string, field: string | null): void {
    this.#prefix = field === null ? `${this.#text(device)},` : `${this.#text(device)},${this.#text(field)},`;
  }

  longRow(time: number, value: ExportedValue): string {
    return `${this.#prefix}${this.#time.format(time)},${this.#cell(value)}\n`;
  }

  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): string {
    let row = this.#prefix + this.#time.format(time);
    for (const value of values) row += value === undefined ? ',' : `,${this.#cell(value)}`;
    return `${row}\n`;
  }

  #cell(value: ExportedValue): string {
    return typeof value === 'string' ? this.#text(value) : String(value);
  }

  #text(text: string): string {
    const safe = this.#spreadsheet && FORMULA.test(text) ? `'${text}` : text;
    return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }
}

/** One JSON object a line, with the same names as CSV's columns. */
export class NdjsonFormat implements ExportFormat {
  readonly contentType = 'application/x-ndjson';
  readonly #keys: readonly string[] | null;
  readonly #time = new IsoTime();
  #prefix = '';

  constructor(fields: readonly string[] | null) {
    this.#keys = fields && fields.map((field) => `,${JSON.stringify(field)}:`);
  }

  header(): string {
    return '';
  }

  begin(device: string, field: string | null): void {
    const named = field === null ? '' : `,"field":${JSON.stringify(field)}`;
    this.#prefix = `{"device":${JSON.stringify(device)}${named},"timestamp":"`;
  }

  longRow(time: number, value: ExportedValue): string {
    return `${this.#prefix}${this.#time.format(time)}","value":${JSON.stringify(value)}}\n`;
  }

  wideRow(time: number, values: readonly (ExportedValue | undefined)[]): string {
    let row = `${this.#prefix}${this.#time.format(time)}"`;
    values.forEach((value, column) => {
      if (value !== undefined) row += `${this.#keys?.[column] ?? ''}${JSON.stringify(value)}`;
    });
    return `${row}}\n`;
  }
}

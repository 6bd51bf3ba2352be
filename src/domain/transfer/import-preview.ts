import { fromStoredValue } from '../measurements/field-value.ts';
import type { Accepted } from '../measurements/entry.ts';
import { flatCopy } from '../text/flat-copy.ts';
import type { ImportLine } from './import-format.ts';

/** One value of a line as it would become, or the reason that it would not. */
export interface PreviewedValue {
  /** Line in the file, from 1. */
  line: number;
  /** Serial number of the device; the name in the file where no device has it. */
  device: string | null;
  field: string | null;
  /** ISO 8601 as it would be stored; as it stands in the file where the line is refused before; null: none. */
  timestamp: string | null;
  value: unknown;
  code: string | null;
  message: string | null;
}

/** Maximum lines that are previewed. */
const MAX_PREVIEWED_LINES = 20;
/** Maximum values of them. */
const MAX_PREVIEWED_VALUES = 1_000;
/** Maximum characters of a text that is shown. */
const MAX_SHOWN = 200;

/** The outcome of a file's first lines, value by value, for a dry run. */
export class ImportPreview {
  readonly values: PreviewedValue[] = [];
  #lines = 0;
  #line = 0;

  /** True while the line is one of the first. */
  takes({ line }: ImportLine): boolean {
    if (line !== this.#line) {
      this.#line = line;
      this.#lines += 1;
    }
    return this.#lines <= MAX_PREVIEWED_LINES && this.values.length < MAX_PREVIEWED_VALUES;
  }

  /** Adds a value that would be stored. */
  accept({ line }: ImportLine, device: string, { field, timestamp, value }: Accepted): void {
    const seen = fromStoredValue(field, value);
    this.values.push({
      line,
      device,
      field: field.identifier,
      timestamp: new Date(timestamp).toISOString(),
      value: typeof seen === 'string' ? short(seen) : seen,
      code: null,
      message: null,
    });
  }

  /** Adds a line or a value that would be refused. */
  refuse({ line }: ImportLine, refused: Omit<PreviewedValue, 'line'>): void {
    const { device, value, timestamp } = refused;
    this.values.push({
      ...refused,
      line,
      device: device === null ? null : short(device),
      timestamp: timestamp === null ? null : short(timestamp),
      value: typeof value === 'string' ? short(value) : typeof value === 'bigint' ? String(value) : value,
    });
  }
}

function short(text: string): string {
  return flatCopy(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text).toWellFormed();
}

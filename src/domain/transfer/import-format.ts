import { badInput } from '../../errors.ts';
import { excessOf } from '../json-text.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import { LineReader } from './line-reader.ts';

/** What one line of a file says: values of one device at one time. `error`: it says nothing that could be read. */
export interface ImportLine {
  line: number;
  device: unknown;
  timestamp: unknown;
  /** Field and value; a wide line has several. */
  values: [field: unknown, value: unknown][];
  error: string | null;
}

/** Reads a file in pieces, each line when its turn comes; the last call says that there are no more. */
interface ImportFormat {
  read(piece: string): Iterable<ImportLine>;
  end(): Iterable<ImportLine>;
}

/** The two formats that exports have (CONTRACT 8), long and wide told apart by their columns or keys. */
export function importFormat(kind: 'csv' | 'ndjson'): ImportFormat {
  return kind === 'csv' ? new CsvImport() : new NdjsonImport();
}

/** Which column is what; -1: there is none. */
interface CsvColumns {
  device: number;
  timestamp: number;
  field: number;
  value: number;
  names: string[];
}

/** The header says what the columns are: `device`, `timestamp`, and `field` with `value`, or fields by name. */
class CsvImport implements ImportFormat {
  readonly #reader = new CsvReader();
  #columns: CsvColumns | null = null;

  read(piece: string): Iterable<ImportLine> {
    return this.#lines(this.#reader.read(piece));
  }

  end(): Iterable<ImportLine> {
    return this.#lines(this.#reader.end());
  }

  *#lines(records: Iterable<CsvRecord>): Iterable<ImportLine> {
    for (const record of records) {
      if (this.#columns === null) this.#columns = columnsOf(record.cells);
      else yield this.#line(record, this.#columns);
    }
  }

  #line({ line, cells, quoted }: CsvRecord, columns: CsvColumns): ImportLine {
    const { device, timestamp, field, value, names } = columns;
    const head = { line, device: device < 0 ? undefined : cells[device], timestamp: cells[timestamp] };
    if (cells.length !== names.length)
      return { ...head, values: [], error: `The line has ${cells.length} columns, the header ${names.length}.` };
    const isThere = (at: number): boolean => cells[at] !== '' || quoted[at] === true;
    if (value >= 0)
      return { ...head, values: [[cells[field], isThere(value) ? cells[value] : undefined]], error: null };
    const values: ImportLine['values'] = [];
    for (let at = 0; at < cells.length; at += 1)
      if (at !== device && at !== timestamp && isThere(at)) values.push([names[at], cells[at]]);
    return { ...head, values, error: null };
  }
}

/** The first column of each name counts for device and timestamp: a field may have the same identifier. */
function columnsOf(names: string[]): CsvColumns {
  // Else all of the file is one line, and nothing of it is missed.
  if (names.some((name) => name.includes('\r')))
    throw badInput(
      'Line 1 has a carriage return in it: lines must end with a line feed (LF or CRLF), not with CR alone.',
    );
  const [device, timestamp] = [names.indexOf('device'), names.indexOf('timestamp')];
  if (timestamp < 0)
    throw badInput(
      'Line 1 must name the columns, with commas between: device,field,timestamp,value or device,timestamp,<field>,….',
    );
  const [field, value] = [names.indexOf('field'), names.indexOf('value')];
  const isLong = field >= 0 && value >= 0 && names.length === (device < 0 ? 3 : 4);
  return { device, timestamp, names, field: isLong ? field : -1, value: isLong ? value : -1 };
}

/** Each line by itself: with `field` and `value` it is long, else its other keys are fields. */
class NdjsonImport implements ImportFormat {
  readonly #reader = new LineReader();

  *read(piece: string): Iterable<ImportLine> {
    for (const { line, text } of this.#reader.read(piece)) yield readObject(line, text);
  }

  *end(): Iterable<ImportLine> {
    for (const { line, text } of this.#reader.end()) yield readObject(line, text);
  }
}

function readObject(line: number, text: string): ImportLine {
  const nothing = { line, device: undefined, timestamp: undefined, values: [] };
  const excess = excessOf(text);
  if (excess !== null) return { ...nothing, error: `The line ${excess}.` };
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    return { ...nothing, error: 'The line is not JSON.' };
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    return { ...nothing, error: 'The line must be a JSON object.' };
  const { device, timestamp, ...rest } = object as Record<string, unknown>;
  const isLong = 'field' in rest && 'value' in rest && Object.keys(rest).length === 2;
  return {
    line,
    device,
    timestamp,
    values: isLong ? [[rest['field'], rest['value']]] : Object.entries(rest),
    error: null,
  };
}

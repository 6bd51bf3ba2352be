import { excessOf, isLongNumber, keepLongNumbers } from '../text/json-text.ts';
import { NameIndex } from '../text/name-index.ts';
import { columnsOf, type CsvColumns } from './csv-columns.ts';
import { CsvReader, type CsvRecord } from './csv-reader.ts';
import type { Role } from './headings.ts';
import { LineReader } from './line-reader.ts';
import { must } from '../../must.ts';

/** Content of one line: values of one device at one time. `error`: the line cannot be read. */
export interface ImportLine {
  line: number;
  device: unknown;
  timestamp: unknown;
  /** Field and value; a wide line has several. */
  values: LineValues;
  /** Values of a long line if it is a wide one, for products that have all these fields; null: it cannot be. */
  wide: LineValues | null;
  /** The columns of a CSV; null: the line is JSON. */
  columns: CsvColumns | null;
  error: string | null;
}

type LineValues = [field: unknown, value: unknown][];

/** Reads a file in pieces, each line when taken; `end` follows the last piece. */
interface ImportFormat {
  read(piece: string): Iterable<ImportLine>;
  end(): Iterable<ImportLine>;
}

/**
 * The two formats of exports (CONTRACT 8), long and wide told apart by their columns or keys. `given`: other names for
 * these; an empty one leaves the column out.
 */
export function importFormat(kind: 'csv' | 'ndjson', given: ReadonlyMap<string, string> = new Map()): ImportFormat {
  return kind === 'csv' ? new CsvImport(given) : new NdjsonImport(given);
}

/** CSV with headings: `device`, `timestamp`, and `field` with `value`, or fields by name. */
class CsvImport implements ImportFormat {
  readonly #given: ReadonlyMap<string, string>;
  readonly #reader: CsvReader;
  #columns: CsvColumns | null = null;

  constructor(given: ReadonlyMap<string, string>) {
    this.#given = given;
    const times = [...given].filter(([, name]) => name.toLowerCase() === 'timestamp');
    this.#reader = new CsvReader(times.length === 0 ? undefined : times.map(([heading]) => heading.toLowerCase()));
  }

  read(piece: string): Iterable<ImportLine> {
    return this.#lines(this.#reader.read(piece));
  }

  end(): Iterable<ImportLine> {
    return this.#lines(this.#reader.end());
  }

  *#lines(records: Iterable<CsvRecord>): Iterable<ImportLine> {
    for (const record of records) {
      if (this.#columns === null) this.#columns = columnsOf(record, must(this.#reader.delimiter), this.#given);
      else yield this.#line(record, this.#columns);
    }
  }

  #line({ line, cells, quoted }: CsvRecord, columns: CsvColumns): ImportLine {
    const { device, timestamp, field, value, names, leftOut } = columns;
    const head = { line, device: textOf(cells[device]), timestamp: cells[timestamp], wide: null, columns };
    if (cells.length !== names.length)
      return { ...head, values: [], error: `The line has ${cells.length} columns, the header ${names.length}.` };
    const isThere = (at: number): boolean => cells[at] !== '' || quoted[at] === true;
    const wide = (): LineValues => {
      const values: LineValues = [];
      for (let at = 0; at < cells.length; at += 1)
        if (at !== device && at !== timestamp && !leftOut.has(at) && isThere(at)) values.push([names[at], cells[at]]);
      return values;
    };
    if (value < 0) return { ...head, values: wide(), error: null };
    return {
      ...head,
      values: [[textOf(cells[field]), isThere(value) ? cells[value] : undefined]],
      wide: columns.mayBeWide ? wide() : null,
      error: null,
    };
  }
}

/** The cell without surrounding blanks, as for names. */
function textOf(cell: string | undefined): string | undefined {
  return cell?.trim();
}

/** NDJSON, each line by itself: with `field` and `value` it is long, else its other keys are fields. */
class NdjsonImport implements ImportFormat {
  readonly #reader = new LineReader();
  readonly #given: ReadonlyMap<string, string>;

  constructor(given: ReadonlyMap<string, string>) {
    this.#given = given;
  }

  *read(piece: string): Iterable<ImportLine> {
    for (const { line, text } of this.#reader.read(piece)) yield readObject(line, text, this.#given);
  }

  *end(): Iterable<ImportLine> {
    for (const { line, text } of this.#reader.end()) yield readObject(line, text, this.#given);
  }
}

function readObject(line: number, text: string, given: ReadonlyMap<string, string>): ImportLine {
  const nothing = { line, device: undefined, timestamp: undefined, values: [], wide: null, columns: null };
  const excess = excessOf(text);
  if (excess !== null) return { ...nothing, error: `The line ${excess}.` };
  let object: unknown;
  try {
    object = JSON.parse(text);
    if (Object.values(object ?? {}).some(isLongNumber)) object = JSON.parse(text, keepLongNumbers);
  } catch {
    return { ...nothing, error: 'The line is not JSON.' };
  }
  if (typeof object !== 'object' || object === null || Array.isArray(object))
    return { ...nothing, error: 'The line must be a JSON object.' };
  const keyed = given.size === 0 ? (object as Record<string, unknown>) : renamed(object, given);
  const { device, timestamp, ...rest } = Object.hasOwn(keyed, 'timestamp') ? keyed : inSmallLetters(keyed);
  const isLong = Object.hasOwn(rest, 'field') && Object.hasOwn(rest, 'value');
  const hasMore = isLong && Object.keys(rest).length > 2;
  return {
    line,
    device,
    timestamp,
    values: isLong ? [[rest['field'], rest['value']]] : Object.entries(rest),
    wide: hasMore ? Object.entries(rest) : null,
    columns: null,
    error: null,
  };
}

/** The object with its keys renamed, without those that are left out. */
function renamed(object: object, given: ReadonlyMap<string, string>): Record<string, unknown> {
  const named = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(object)) {
    const name = given.get(key) ?? key;
    if (name !== '' || !given.has(key)) named[name] = value;
  }
  return named;
}

const ROLES: readonly string[] = ['device', 'timestamp', 'field', 'value'] satisfies Role[];

/** Renames keys that differ from `device`, `timestamp`, `field` and `value` in case alone, unless several do. */
function inSmallLetters(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  if (!keys.some((key) => key.toLowerCase() === 'timestamp')) return object;
  const index = new NameIndex(keys);
  const renamed = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(object)) {
    const small = key.toLowerCase();
    renamed[ROLES.includes(small) && index.inOtherCapitals(small) === key ? small : key] = value;
  }
  return renamed;
}

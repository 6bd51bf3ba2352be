import { CsvReader } from '../domain/transfer/csv-reader.ts';
import { lineEndsIn, RecordCutter } from '../domain/transfer/record-cutter.ts';
import { readTimeOf } from './foreign-times.ts';

/** The stores whose files are read. */
export const STORES = ['influx', 'victoriametrics', 'thingsboard', 'homeassistant'] as const;
type Store = (typeof STORES)[number];

/** A value of a file, and where it stands. */
export interface ForeignValue {
  /** Its line in the file, from 1. */
  line: number;
  device: string | null;
  field: string;
  /** As the import endpoint reads it. */
  time: string;
  value: string;
}

/** How the names of a store become those of Inlet. */
export interface Naming {
  /** Name in the file → `FIELD` or `DEVICE/FIELD`; an empty text: left out. */
  map: ReadonlyMap<string, string>;
  /** Columns, tags or labels that name the device, in order of preference. */
  deviceColumns: readonly string[];
  /** The device of everything that the map does not give to another. */
  device: string | null;
  /** The unit of times that are numbers; null: by their size. */
  unit: string | null;
}

/** Columns that hold times. */
const TIMES = ['time', '_time', 'timestamp', 'ts', 'date', 'last_changed', 'last_updated'];
/** Columns beside the values, by the programs that write them. */
const BESIDE: Record<Store, readonly string[]> = {
  influx: ['', 'name', 'tags', 'result', 'table', '_start', '_stop', '_measurement'],
  victoriametrics: [],
  thingsboard: ['entity name', 'entity type', 'entity label'],
  homeassistant: [],
};
/** Home Assistant's states that are no values. */
const NO_STATE = /^(?:unavailable|unknown)?$/i;

/** Reads the values of a file of another store that arrives in pieces. Throws where the file is not of that store. */
export class ForeignValues {
  readonly #store: Store;
  readonly #naming: Naming;
  #headings: string[] | null = null;
  #delimiter = ',';

  constructor(store: Store, naming: Naming) {
    this.#store = store;
    this.#naming = naming;
  }

  /** Whether numbers may have a decimal comma: where commas do not stand between the cells. */
  get mayHaveCommas(): boolean {
    return this.#delimiter !== ',';
  }

  async *read(pieces: AsyncIterable<string>): AsyncGenerator<ForeignValue> {
    if (this.#store === 'victoriametrics') return yield* this.#readSeries(pieces);
    const reader = new CsvReader();
    for await (const piece of pieces)
      for (const { line, cells, quoted } of reader.read(piece)) {
        this.#delimiter = reader.delimiter ?? ',';
        yield* this.#valuesOf(line, cells, quoted);
      }
    for (const { line, cells, quoted } of reader.end()) yield* this.#valuesOf(line, cells, quoted);
  }

  async *#readSeries(pieces: AsyncIterable<string>): AsyncGenerator<ForeignValue> {
    const cutter = new RecordCutter(lineEndsIn);
    let line = 0;
    for await (const piece of pieces)
      for (const record of cutter.cut(piece)) yield* this.#seriesOf((line += 1), record);
    yield* this.#seriesOf(line + 1, cutter.rest());
  }

  *#seriesOf(line: number, record: string): Generator<ForeignValue> {
    if (record.trim() === '') return;
    const { metric, values, timestamps } = seriesIn(record, line);
    const name = metric['__name__'] ?? '';
    const device = this.#deviceOf((column) => metric[column]);
    for (const [nth, value] of values.entries()) {
      const time = readTimeOf(String(timestamps[nth]), this.#naming.unit ?? 'ms');
      if (value !== null) yield* this.#named(name, { line, device, time, value: String(value) });
    }
  }

  *#valuesOf(line: number, cells: readonly string[], quoted: readonly boolean[]): Generator<ForeignValue> {
    if (cells[0]?.startsWith('#') === true) return;
    const names = cells.map((cell) => cell.trim());
    if (this.#areHeadings(names)) {
      this.#headings = names;
      return;
    }
    const headings = this.#headings;
    if (headings === null)
      throw new Error(
        `line ${line}: expected headings, one of them ${TIMES.slice(0, 4).join(', ')}: is it of ${this.#store}?`,
      );
    const cellOf = (name: string): string | undefined => cells[headings.indexOf(name)];
    const timeAt = headings.findIndex((name) => TIMES.includes(name.toLowerCase()));
    const at = { line, time: readTimeOf(cells[timeAt] ?? '', this.#naming.unit), device: this.#deviceOfRow(cellOf) };
    if (this.#store === 'homeassistant') {
      const state = cellOf('state') ?? '';
      if (!NO_STATE.test(state)) yield* this.#named(cellOf('entity_id') ?? '', { ...at, value: state });
      return;
    }
    const long = cellOf('_field');
    if (long !== undefined) return yield* this.#named(long, { ...at, value: cellOf('_value') ?? '' });
    for (const [nth, name] of headings.entries()) {
      const value = cells[nth] ?? '';
      const isValue = nth !== timeAt && !BESIDE[this.#store].includes(name.toLowerCase()) && !this.#namesDevice(name);
      if (isValue && (value !== '' || quoted[nth] === true)) yield* this.#named(name, { ...at, value });
    }
  }

  /** InfluxDB repeats them before each series; elsewhere a text may read like one of them. */
  #areHeadings(names: readonly string[]): boolean {
    if (this.#headings === null) return names.some((name) => TIMES.includes(name.toLowerCase()));
    return this.#store === 'influx' && (names.includes('_time') || (names[0] === 'name' && names.includes('time')));
  }

  #namesDevice(column: string): boolean {
    return this.#naming.deviceColumns.includes(column) && !this.#naming.map.has(column);
  }

  /** Of a row of InfluxDB 1 the tags may stand in one cell: `device=hall,room=2`. */
  #deviceOfRow(cellOf: (name: string) => string | undefined): string | null {
    const tags = new Map<string, string>();
    for (const pair of (this.#store === 'influx' ? (cellOf('tags') ?? '') : '').split(',')) {
      const equals = pair.indexOf('=');
      if (equals > 0) tags.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    return this.#deviceOf((column) => cellOf(column) ?? tags.get(column));
  }

  #deviceOf(textOf: (column: string) => string | undefined): string | null {
    if (this.#naming.device !== null) return this.#naming.device;
    for (const column of this.#naming.deviceColumns) {
      const text = textOf(column);
      if (text !== undefined && text !== '') return text;
    }
    return null;
  }

  *#named(name: string, value: Omit<ForeignValue, 'field'>): Generator<ForeignValue> {
    const target = this.#naming.map.get(name) ?? (this.#store === 'homeassistant' ? name.replace(/^\w+\./, '') : name);
    if (target === '') return;
    const slash = target.lastIndexOf('/');
    const isMapped = this.#naming.map.has(name) && slash >= 0;
    yield {
      ...value,
      device: isMapped ? target.slice(0, slash) : value.device,
      field: isMapped ? target.slice(slash + 1) : target,
    };
  }
}

interface Series {
  metric: Record<string, string>;
  values: (number | string | null)[];
  timestamps: number[];
}

function seriesIn(record: string, line: number): Series {
  let series: Partial<Series> = {};
  try {
    series = JSON.parse(record) as Partial<Series>;
  } catch {
    // Told below.
  }
  const { metric, values, timestamps } = series;
  if (metric === undefined || !Array.isArray(values) || values.length !== timestamps?.length)
    throw new Error(`line ${line}: expected {"metric":…,"values":[…],"timestamps":[…]}, as /api/v1/export writes it`);
  return { metric, values, timestamps };
}

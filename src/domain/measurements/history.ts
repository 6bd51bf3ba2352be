import { badInput } from '../../errors.ts';
import { fromStoredValue } from './field-value.ts';
import type { DeviceInfo, FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { MeasurementStore, StoredValue } from './store.ts';

export type Value = number | boolean | string;

export interface LatestValue {
  field: FieldInfo;
  timestamp: number;
  value: Value;
}

export interface SeriesQuery {
  /** Identifiers; left out: every field of the product. */
  fields?: string[] | undefined;
  /** Milliseconds; start inclusive, end exclusive. */
  from: number;
  to: number;
}

export interface Series {
  field: FieldInfo;
  resolution: string | null;
  /** Unix seconds. */
  timestamps: number[];
  values: (Value | null)[];
  truncated: boolean;
}

export interface PageQuery {
  field: string;
  from?: number | undefined;
  to?: number | undefined;
  newestFirst: boolean;
  limit: number;
  /** The time of the last value seen. */
  after?: number | undefined;
}

export interface Page {
  field: FieldInfo;
  timestamps: number[];
  values: Value[];
  hasMore: boolean;
  /** Time of the last value looked at: `after` of the next page. */
  lastTimestamp: number | null;
}

/** What one `history` may bring at most, all its series together. */
const MAX_POINTS = 200_000;

/** THE read path: what was acknowledged is there (CONTRACT 7). */
export class History {
  readonly #store: MeasurementStore;

  constructor(store: MeasurementStore) {
    this.#store = store;
  }

  /** The value with the latest measured time of each field that has one. */
  async latest(device: DeviceInfo, identifiers?: string[]): Promise<LatestValue[]> {
    const fields = chosenFields(device, identifiers);
    const rows = await this.#store.latest([{ deviceKey: device.key, fieldKeys: fields.map((field) => field.key) }]);
    const byField = new Map(rows.map((row) => [row.fieldKey, row]));
    return fields.flatMap((field) => {
      const row = byField.get(field.key);
      const value = row && fromStoredValue(field.type, row.value);
      return row === undefined || value == null ? [] : [{ field, timestamp: row.timestamp, value }];
    });
  }

  /** Raw columns, one series for each field, in time order; cut at 200,000 points in all. */
  async series(device: DeviceInfo, query: SeriesQuery): Promise<Series[]> {
    if (query.from >= query.to) throw badInput('"from" must be before "to".');
    const fields = chosenFields(device, query.fields);
    let left = MAX_POINTS;
    const series: Series[] = [];
    for (const field of fields) {
      const { from, to } = query;
      // One more than may be shown tells whether something was cut.
      const range = { deviceKey: device.key, fieldKey: field.key, from, to, newestFirst: false, limit: left + 1 };
      const columns = await this.#store.range(range);
      const truncated = columns.timestamps.length > left;
      const count = Math.min(columns.timestamps.length, left);
      left -= count;
      series.push({
        field,
        resolution: null,
        timestamps: columns.timestamps.slice(0, count).map((ms) => ms / 1000),
        values: columns.values.slice(0, count).map((value) => fromStoredValue(field.type, value)),
        truncated,
      });
    }
    return series;
  }

  /** How many values of the field are stored in a range (start inclusive, end exclusive), whatever its type is now. */
  async count(
    device: DeviceInfo,
    { field, from, to }: { field: string; from?: number | null | undefined; to?: number | null | undefined },
  ): Promise<number> {
    const fieldKeys = chosenFields(device, [field]).map(({ key }) => key);
    const range = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER };
    return this.#store.remove({ deviceKey: device.key, fieldKeys, ...range, dryRun: true });
  }

  /** One page of raw values; `after` goes on behind the last value of the page before. */
  async page(device: DeviceInfo, query: PageQuery): Promise<Page> {
    const [field] = chosenFields(device, [query.field]) as [FieldInfo];
    let { from, to } = query;
    if (from !== undefined && to !== undefined && from >= to) throw badInput('"from" must be before "to".');
    if (query.after !== undefined) {
      if (query.newestFirst) to = Math.min(to ?? Number.MAX_SAFE_INTEGER, query.after);
      else from = Math.max(from ?? 0, query.after + 1);
    }
    const columns = await this.#store.range({
      deviceKey: device.key,
      fieldKey: field.key,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      newestFirst: query.newestFirst,
      limit: query.limit + 1,
    });
    const hasMore = columns.timestamps.length > query.limit;
    const timestamps: number[] = [];
    const values: Value[] = [];
    columns.values.slice(0, query.limit).forEach((stored: StoredValue, index) => {
      const value = fromStoredValue(field.type, stored);
      // A value that does not fit the field's new type is left out here, and null in a series.
      if (value === null) return;
      timestamps.push(columns.timestamps[index] as number);
      values.push(value);
    });
    const lastTimestamp = columns.timestamps.slice(0, query.limit).at(-1) ?? null;
    return { field, timestamps, values, hasMore, lastTimestamp };
  }
}

/** The product's fields by identifier, each once; an unknown one is an error, never left out in silence. */
function chosenFields(device: DeviceInfo, identifiers: string[] | undefined): FieldInfo[] {
  if (identifiers === undefined) return [...device.product.fields.values()];
  return [...new Set(identifiers)].map((identifier) => {
    const field = device.product.fields.get(identifier);
    if (field === undefined)
      throw badInput(`The product has no field "${identifier.slice(0, 64)}" (identifiers are case-sensitive).`);
    return field;
  });
}

import { badInput } from '../../errors.ts';
import type { DeviceInfo, FieldInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { fromStoredValue } from '../measurements/field-value.ts';
import type { Moment, PointsAnswer, StatisticsAnswer } from '../ports/series-request.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { LatestRow, MeasurementStore, StoredValue } from '../ports/store.ts';
import { chosenFields, fieldsOfEach, fieldsOrError, memoized } from './chosen-fields.ts';
import { fieldColumns, type FieldColumns } from './field-columns.ts';
import { ofField } from './of-field.ts';
import type { PointBudget } from './point-budget.ts';
import { checkRange, MAX_POINTS, planSeries, prepareSeries, type SeriesPlan, type SeriesQuery } from './series-plan.ts';
import { SeriesReader, type ViewRequest, type ViewResult } from './series-reader.ts';
import { shareFairly } from './share-fairly.ts';
import { must } from '../../must.ts';

/** A value as clients see it; a place is a text. */
type Value = number | boolean | string;

/** One value of a field; `timestamp` in ms UTC. */
export interface MeasuredValue {
  field: FieldInfo;
  timestamp: number;
  value: Value;
}

/** Columns of one field, ready for a chart (CONTRACT 7). */
export interface Series {
  field: FieldInfo;
  /** Width of the buckets; null: raw values, or a selection of them. */
  resolution: string | null;
  /** Times in Unix seconds. */
  timestamps: number[];
  values: (Value | null)[];
  /** The last value before `from`. */
  before: MeasuredValue | null;
  truncated: boolean;
}

/** Summary of a range of one field; times in ms UTC, null without values. */
type FieldStatistics = Omit<StatisticsAnswer, 'first' | 'last'> & {
  field: FieldInfo;
  first: MeasuredValue | null;
  last: MeasuredValue | null;
};

/** The input for `statistics`; milliseconds, start inclusive, end exclusive. */
type StatisticsQuery = Pick<SeriesQuery, 'fields' | 'from' | 'to'> & {
  /** False: without the difference and the kinds of falls. */
  steps?: boolean | undefined;
};

interface PageQuery {
  field: string;
  from?: number | undefined;
  to?: number | undefined;
  newestFirst: boolean;
  limit: number;
  /** Time of the last value of the page before. */
  after?: number | undefined;
}

interface Page {
  field: FieldInfo;
  timestamps: number[];
  values: Value[];
  hasMore: boolean;
  /** Time of the last value read: `after` of the next page. */
  lastTimestamp: number | null;
}

/** A device whose newest values are wanted; fields are identifiers, left out: all of the product. */
export interface LatestWanted {
  device: Pick<DeviceInfo, 'key' | 'workspaceId' | 'product'>;
  fields?: readonly string[] | null | undefined;
}

/** Maximum series per `history` of many devices. */
const MAX_SERIES = 2_000;
/** Maximum characters of texts in all series of one `history`. */
const MAX_CHARACTERS = 10_000_000;
/**
 * Characters of text that count as a point, so that a history cut off for its texts is within an operation's budget.
 */
const CHARACTERS_A_POINT = 40;
/** Points that a field's statistics count. */
const STATISTICS_POINTS = 10;

/** THE read path: everything acknowledged is visible (CONTRACT 7). */
export class History {
  readonly #store: MeasurementStore;
  readonly #reader: SeriesReader;
  readonly #plans = new EventLoopQueue(LANES.chartPlans);

  readonly #now: () => number;

  /** `now`, in ms UTC: the end of the time for which the newest value holds. */
  constructor(store: MeasurementStore, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#reader = new SeriesReader(store);
  }

  /** The value with the latest measured time of each field that has one. */
  async latest(device: DeviceInfo): Promise<MeasuredValue[]> {
    const [values] = await this.latestOfMany([{ device }]);
    if (values instanceof Error) throw values;
    return values ?? [];
  }

  /**
   * The latest values as above for each device in order, in one look-up; for a device with wrong fields, the error.
   * `spend`: as in the store.
   */
  async latestOfMany(
    wanted: readonly LatestWanted[],
    spend?: (ms: number) => void,
  ): Promise<(MeasuredValue[] | Error)[]> {
    // Share one list of fields among devices of a product, to send it to the thread once.
    const allOf = memoized((product: ProductInfo) => [...product.fields.values()]);
    const listsOf = memoized((product: ProductInfo) =>
      memoized((fields: readonly string[]) => fieldsOrError(product, fields)),
    );
    const keysOf = memoized((fields: FieldInfo[]) => fields.map((field) => field.key));
    const chosen = wanted.map(({ device: { product }, fields }) =>
      fields == null ? allOf(product) : listsOf(product)(fields),
    );
    const queries = wanted.flatMap(({ device }, at) => {
      const fields = must(chosen[at]);
      return fields instanceof Error
        ? []
        : [{ deviceKey: device.key, fieldKeys: keysOf(fields), tenant: device.workspaceId }];
    });
    const rows = queries.length === 0 ? [] : await this.#store.latest(queries, spend);
    const byDevice = new Map<number, Map<number, LatestRow>>();
    for (const row of rows) {
      const byField = byDevice.get(row.deviceKey);
      if (byField === undefined) byDevice.set(row.deviceKey, new Map([[row.fieldKey, row]]));
      else byField.set(row.fieldKey, row);
    }
    return wanted.map(({ device }, at) => {
      const fields = must(chosen[at]);
      if (fields instanceof Error) return fields;
      const byField = byDevice.get(device.key);
      return fields.flatMap((field) => {
        const row = byField?.get(field.key);
        const value = row && fromStoredValue(field, row.value);
        return row === undefined || value == null ? [] : [{ field, timestamp: row.timestamp, value }];
      });
    });
  }

  /** One series per field. */
  async series(device: DeviceInfo, query: SeriesQuery, budget: PointBudget): Promise<Series[]> {
    return must((await this.seriesOfMany([device], query, budget))[0]);
  }

  /**
   * The series of each device, in order. A field that only some of the devices' products have is left out for the
   * others; one that none has is BAD_USER_INPUT.
   */
  async seriesOfMany(devices: readonly DeviceInfo[], query: SeriesQuery, budget: PointBudget): Promise<Series[][]> {
    checkRange(query);
    const chosen = fieldsOfEach(devices, query.fields);
    const count = chosen.reduce((sum, fields) => sum + fields.length, 0);
    if (count > MAX_SERIES)
      throw badInput(
        `These are ${count} series, at most ${MAX_SERIES} at once: choose fewer devices, or some "fields".`,
      );
    const plan = await this.#plan(query, count, budget);
    const requests = devices.flatMap((device, i) =>
      must(chosen[i]).map((field) => requestOf(device, field, query, plan, count)),
    );
    const results = await budget.within(plan.pointsEach * count, () => this.#read(requests, budget), pointsOf);
    let at = 0;
    return chosen.map((own) => own.map((field) => toSeries(field, plan, must(requests[at]), must(results[at++]))));
  }

  /** Summaries of the fields in a range. */
  async statistics(device: DeviceInfo, query: StatisticsQuery, budget: PointBudget): Promise<FieldStatistics[]> {
    checkRange(query);
    const fields = chosenFields(device.product, query.fields);
    const { from, to, steps } = query;
    const heldTo = this.#now();
    const viewOf = (field: FieldInfo): ViewRequest => {
      const range = { deviceKey: device.key, ...ofField(field), from, to, maxCharacters: 0 };
      return { ...range, view: { kind: 'statistics', steps, heldTo } };
    };
    // Schedule the start: asking for 500 fields takes a while, and there may be a hundred such devices at once.
    const begin = () => ({ reading: this.#reader.read(fields.map(viewOf), budget, 'any') });
    const points = fields.length * STATISTICS_POINTS;
    const results = await budget.within(
      points,
      async () => (await budget.plan(this.#plans, begin)).reading,
      () => points,
    );
    return fields.map((field, i) => {
      const { first, last, ...rest } = must(results[i]).answer as StatisticsAnswer;
      return { field, ...rest, first: toValue(field, first), last: toValue(field, last) };
    });
  }

  /** The oldest `limit` values of each field in a range (ms UTC; start inclusive, end exclusive), as they are stored. */
  async columns(
    device: Pick<DeviceInfo, 'key'>,
    fields: readonly FieldInfo[],
    { from, to, limit }: { from: number; to: number; limit: number },
    budget: PointBudget,
  ): Promise<FieldColumns[]> {
    const requests = fields.map((field): ViewRequest => {
      const range = { deviceKey: device.key, ...ofField(field), from, to, maxCharacters: MAX_CHARACTERS };
      return { ...range, view: { kind: 'raw', limit } };
    });
    return (await budget.page(() => this.#reader.read(requests, budget))).map(fieldColumns);
  }

  /** Number of the devices' values of a field, and of those that do not fit the type, whatever the field's is now. */
  async misfits(
    devices: readonly DeviceInfo[],
    { key, type }: Pick<FieldInfo, 'key' | 'type'>,
    budget: PointBudget,
  ): Promise<{ values: number; misfits: number }> {
    const requests = devices.flatMap((device): ViewRequest[] => {
      const range = { deviceKey: device.key, fieldKey: key, fieldType: type, from: 0, to: Number.MAX_SAFE_INTEGER };
      // The raw view counts all values, the statistics those that fit.
      const views = [{ kind: 'raw', limit: 0 } as const, { kind: 'statistics', steps: false } as const];
      return views.map((view) => ({ ...range, maxCharacters: 0, view }));
    });
    const points = devices.length * STATISTICS_POINTS;
    const results = await budget.within(points, () => this.#reader.read(requests, budget), () => points); // oxfmt-ignore
    let [values, fitting] = [0, 0];
    for (const { answer } of results) {
      if ('total' in answer) values += answer.total;
      else fitting += answer.count;
    }
    return { values, misfits: values - fitting };
  }

  /** Number of values of the field in a range (start inclusive, end exclusive), whatever its type is now. */
  async count(
    device: DeviceInfo,
    { field, from, to }: { field: string; from?: number | null | undefined; to?: number | null | undefined },
    budget: PointBudget,
  ): Promise<number> {
    const fieldKeys = chosenFields(device.product, [field]).map(({ key }) => key);
    const range = { from: from ?? 0, to: to ?? Number.MAX_SAFE_INTEGER };
    const query = { deviceKey: device.key, fieldKeys, ...range, dryRun: true };
    return budget.page(() => this.#store.remove(query));
  }

  /** One page of raw values; `after` continues behind the last value of the page before. */
  async page(device: DeviceInfo, query: PageQuery, budget: PointBudget): Promise<Page> {
    const [field] = chosenFields(device.product, [query.field]) as [FieldInfo];
    let { from, to } = query;
    checkRange(query);
    if (query.after !== undefined) {
      if (query.newestFirst) to = Math.min(to ?? Number.MAX_SAFE_INTEGER, query.after);
      else from = Math.max(from ?? 0, query.after + 1);
    }
    const range = {
      deviceKey: device.key,
      fieldKey: field.key,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      newestFirst: query.newestFirst,
      limit: query.limit + 1,
    };
    const columns = await budget.page(() => this.#store.range(range, 'any'));
    const hasMore = columns.timestamps.length > query.limit;
    const timestamps: number[] = [];
    const values: Value[] = [];
    columns.values.slice(0, query.limit).forEach((stored: StoredValue, index) => {
      const value = fromStoredValue(field, stored);
      // Leave out values that do not fit the field's present type; in a series they are null.
      if (value === null) return;
      timestamps.push(columns.timestamps[index] as number);
      values.push(value);
    });
    const lastTimestamp = columns.timestamps.slice(0, query.limit).at(-1) ?? null;
    return { field, timestamps, values, hasMore, lastTimestamp };
  }

  async #plan(query: SeriesQuery, count: number, budget: PointBudget): Promise<SeriesPlan> {
    const preparing = prepareSeries(query);
    while (!(await budget.plan(this.#plans, () => preparing.next())).done);
    return budget.plan(this.#plans, () => planSeries(query, count, this.#now()));
  }

  /** Reads series whose raw values share the limit fairly: the unused part of one goes to larger ones. */
  async #read(requests: readonly ViewRequest[], operation: PointBudget): Promise<ViewResult[]> {
    const results = await this.#reader.read(requests, operation, 'any');
    const totals = results.map(({ answer }) => (answer as PointsAnswer).total);
    const shares = shareFairly(totals, MAX_POINTS);
    const again = requests.flatMap(({ view }, i) =>
      view.kind === 'raw' && Math.min(must(totals[i]), must(shares[i])) > view.limit ? [i] : [],
    );
    const more = await this.#reader.read(
      again.map((i) => ({ ...must(requests[i]), view: { kind: 'raw', limit: must(shares[i]) } })),
      operation,
      'any',
    );
    again.forEach((index, i) => (results[index] = must(more[i])));
    return results;
  }
}

function requestOf(
  device: DeviceInfo,
  field: FieldInfo,
  { from, to }: SeriesQuery,
  plan: SeriesPlan,
  count: number,
): ViewRequest {
  const maxCharacters = Math.floor(MAX_CHARACTERS / count);
  const range = { deviceKey: device.key, ...ofField(field), from, to, maxCharacters };
  return { ...range, view: plan.viewOf(field) };
}

function toSeries(field: FieldInfo, plan: SeriesPlan, { view }: ViewRequest, { before, answer }: ViewResult): Series {
  const { timestamps, values, bucketed, truncated } = answer as PointsAnswer;
  // Show booleans only for values themselves: an average is a share, a count a number.
  const asIs = !bucketed || (view.kind === 'buckets' && (view.aggregation === 'FIRST' || view.aggregation === 'LAST'));
  const booleans = field.type === 'BOOLEAN' && asIs;
  return {
    field,
    resolution: bucketed ? plan.resolution : null,
    timestamps: Array.from(timestamps, (time) => time / 1000),
    values: Array.from<StoredValue | null, Value | null>(values, (value) =>
      value === null || Number.isNaN(value) ? null : booleans ? value === 1 : value,
    ),
    before: toValue(field, before),
    truncated,
  };
}

function toValue(field: FieldInfo, moment: Moment | null): MeasuredValue | null {
  const value = moment === null ? null : fromStoredValue(field, moment.value);
  return moment === null || value === null ? null : { field, timestamp: moment.timestamp, value };
}

function pointsOf(results: readonly ViewResult[]): number {
  let points = 0;
  for (const { answer } of results) {
    const { values } = answer as PointsAnswer;
    points += values.length;
    if (!(values instanceof Float64Array))
      for (const value of values) if (typeof value === 'string') points += value.length / CHARACTERS_A_POINT;
  }
  return points;
}

import type { FieldType } from '../api/schema-types.ts';
import { type Columns, type LivePoint, mergeValues } from './merge-values.ts';
import { showGaps } from './show-gaps.ts';
import type { ChartData } from './time-chart.tsx';

type Value = number | string | boolean;

/** The server's answer for one field in a range. */
export interface FieldAnswer {
  raw: {
    resolution: string | null;
    timestamps: number[];
    values: (Value | null)[];
    before: { timestamp: string; value: Value } | null;
  };
  /** Numbers only: the range in uniform buckets; for a gauge with the smallest and largest values. */
  buckets: {
    timestamps: number[];
    mean: (Value | null)[];
    band: { low: (Value | null)[]; high: (Value | null)[] } | null;
    resolution: string | null;
  } | null;
  count: number;
}

/** A field's chart. */
interface FieldChartData {
  data: ChartData;
  names: string[] | undefined;
  /** Width of the buckets, such as `1h`; null: every value is shown. */
  resolution: string | null;
}

/** Maximum names of states; a field with more is a text, and listed instead of drawn. */
export const MAX_STATES = 20;

/**
 * Chart of a field: every value if they fit, with those pushed since, else buckets as a line of means in a band from
 * the smallest to the largest, or without one. The value before the range enters from the left. `points`: maximum
 * number of values in the answer. null: too many different texts.
 */
export function chartDataOf(
  type: FieldType,
  { raw, buckets, count }: FieldAnswer,
  pushed: readonly LivePoint<Value>[],
  { from, to, points }: { from: number; to: number; points: number },
): FieldChartData | null {
  const isNumber = type === 'FLOAT' || type === 'INTEGER';
  if (isNumber && buckets !== null && count > points) {
    const { timestamps, mean, band, resolution } = buckets;
    const line = { timestamps, values: numbers(mean) };
    const data = band === null ? line : { ...line, band: { low: numbers(band.low), high: numbers(band.high) } };
    return { data, names: undefined, resolution };
  }
  // Buckets of states and shares cannot take single values.
  const merged = mergeValues(carriedIn(raw, isNumber, from), raw.resolution === null ? pushed : [], from / 1_000);
  if (isNumber) return { data: withNumbers(showGaps(merged)), names: undefined, resolution: raw.resolution };
  if (type === 'BOOLEAN') {
    if (raw.resolution !== null) return { data: withNumbers(merged), names: undefined, resolution: raw.resolution };
    return { data: held(withNumbers(merged), to), names: ['false', 'true'], resolution: null };
  }
  const names = [...new Set(merged.values.filter((value) => value !== null).map(String))].sort();
  if (names.length > MAX_STATES) return null;
  const places = new Map(names.map((name, at) => [name, at]));
  const values = merged.values.map((value) => (value === null ? null : (places.get(String(value)) ?? null)));
  return { data: held({ ...merged, values }, to), names, resolution: raw.resolution };
}

/** Adds the value before the range: numbers and places at their own time, states at the begin of the range (ms). */
export function carriedIn(
  { timestamps, values, before }: FieldAnswer['raw'],
  fromItsTime: boolean,
  from: number,
): Columns<Value> {
  if (before === null) return { timestamps, values };
  const at = fromItsTime ? Date.parse(before.timestamp) / 1_000 : from / 1_000;
  if (timestamps[0] !== undefined && timestamps[0] <= at) return { timestamps, values };
  return { timestamps: [at, ...timestamps], values: [before.value, ...values] };
}

/** Extends the last state to the end of the range, but not into the future. */
function held(data: ChartData, to: number): ChartData {
  const last = data.values.at(-1);
  const end = Math.min(to, Date.now()) / 1_000;
  if (last == null || (data.timestamps.at(-1) ?? 0) >= end) return data;
  return { timestamps: [...data.timestamps, end], values: [...data.values, last] };
}

function withNumbers({ timestamps, values }: Columns<Value>): ChartData {
  return { timestamps, values: numbers(values) };
}

function numbers(values: readonly (Value | null)[]): (number | null)[] {
  return values.map((value) => (value === null ? null : Number(value)));
}

import type { Moment, PointsAnswer } from '../ports/series-request.ts';
import type { ValueSpan } from './value-span.ts';

/** From a time (inclusive) to another (exclusive), in ms UTC. */
export interface Extent {
  from: number;
  to: number;
}

/** Stored values of a range, in time order. */
export interface RangeOfValues {
  from: number;
  to: number;
  /** Bounds of the segments: no value lies outside. */
  extent: Extent;
  /** Maximum characters per view, for texts. */
  maxCharacters: number;
  stretches: readonly ValueSpan[];
  before: Moment | null;
}

/** Number of values in the range, including those that do not fit the field's type. */
export function totalOf({ stretches }: RangeOfValues): number {
  return stretches.reduce((sum, { count }) => sum + count, 0);
}

/** The oldest `limit` values as they are. */
export function rawView(range: RangeOfValues, limit: number): PointsAnswer {
  const total = totalOf(range);
  const count = Math.min(total, limit);
  const timestamps = new Float64Array(count);
  const numbers = new Float64Array(count);
  const texts: (string | null)[] = [];
  let at = 0;
  for (const { timestamps: times, values } of range.stretches) {
    if (at === count) break;
    if (times.length === 0) throw new Error('a segment that is needed was not decoded');
    const taken = Math.min(times.length, count - at);
    timestamps.set(times.subarray(0, taken), at);
    if (values instanceof Float64Array) numbers.set(values.subarray(0, taken), at);
    else for (let i = 0; i < taken; i++) texts.push(values[i] ?? null);
    at += taken;
  }
  return { timestamps, values: texts.length > 0 ? texts : numbers, bucketed: false, total, truncated: count < total };
}

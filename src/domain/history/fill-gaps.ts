import type { GapFill } from '../ports/series-request.ts';
import { must } from '../../must.ts';

/** Points of buckets: `timestamps` are their begins; NaN or null for an empty one. */
interface BucketPoints<Value> {
  timestamps: Float64Array;
  values: Value[];
}

/** The values that fill gaps. */
interface Filling<Value> {
  nothing: Value;
  /** The value before the first bucket. */
  before: Value;
  /** The value at a fraction, from 0 to 1, of the way from one value to another; left out: linear between numbers. */
  between?: ((from: number, to: number, share: number) => number) | undefined;
}

/**
 * The buckets with their gaps filled (CONTRACT 7): `values` has undefined for empty ones. PREVIOUS repeats the value
 * before, first `before`; LINEAR interpolates between neighbours by the begins of the buckets, and leaves gaps with
 * only one.
 */
export function fillGaps<Value>(
  edges: Float64Array,
  values: readonly (Value | undefined)[],
  fill: GapFill,
  { nothing, before, between = straight }: Filling<Value>,
): BucketPoints<Value> {
  const timestamps = edges.slice(0, -1);
  switch (fill) {
    case 'NONE':
      return {
        timestamps: timestamps.filter((_, i) => values[i] !== undefined),
        values: values.filter((value) => value !== undefined),
      };
    case 'NULL':
      return { timestamps, values: values.map((value) => value ?? nothing) };
    case 'PREVIOUS': {
      let previous = before;
      return { timestamps, values: values.map((value) => (previous = value ?? previous)) };
    }
    case 'LINEAR':
      return { timestamps, values: interpolated(timestamps, values, nothing, between) };
  }
}

function straight(from: number, to: number, share: number): number {
  return from * (1 - share) + to * share;
}

function interpolated<Value>(
  at: Float64Array,
  values: readonly (Value | undefined)[],
  nothing: Value,
  between: NonNullable<Filling<Value>['between']>,
): Value[] {
  const filled = values.map((value) => value ?? nothing);
  let left = -1;
  values.forEach((value, right) => {
    if (value === undefined) return;
    for (let i = left < 0 ? right : left + 1; i < right; i++) {
      const share = (must(at[i]) - must(at[left])) / (must(at[right]) - must(at[left]));
      filled[i] = between(values[left] as number, value as number, share) as Value;
    }
    left = right;
  });
  return filled;
}

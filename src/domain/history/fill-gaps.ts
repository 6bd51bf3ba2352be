import type { GapFill } from '../ports/series-request.ts';

/** Points of buckets: `timestamps` are their begins; NaN or null where there is nothing. */
interface BucketPoints<Value> {
  timestamps: Float64Array;
  values: Value[];
}

/** What gaps are filled with. */
interface Filling<Value> {
  nothing: Value;
  /** The value before the first bucket. */
  before: Value;
  /** A part, from 0 to 1, of the way from one value to another; left out: of two numbers. */
  between?: ((from: number, to: number, share: number) => number) | undefined;
}

/**
 * The buckets with their gaps filled (CONTRACT 7): `values` has undefined where nothing was measured. PREVIOUS goes on
 * with the value before, at the begin with `before`; LINEAR draws a line between neighbours by the begins of the buckets,
 * and leaves what has only one of them.
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
      const share = (at[i]! - at[left]!) / (at[right]! - at[left]!);
      filled[i] = between(values[left] as number, value as number, share) as Value;
    }
    left = right;
  });
  return filled;
}

/** Values of one field as columns in time order: Unix seconds and what was measured; null: a gap. */
export interface Columns<Value> {
  timestamps: readonly number[];
  values: readonly (Value | null)[];
}

/** One value that was pushed. */
export interface LivePoint<Value> {
  /** Unix seconds. */
  timestamp: number;
  value: Value;
}

/**
 * The columns with pushed values put in their places: a moment that is there already gets the new value, as in the store.
 * What lies before `from` (Unix seconds) is left out, but for the last value before it: there the line comes in.
 */
export function mergeValues<Value>(
  { timestamps, values }: Columns<Value>,
  points: readonly LivePoint<Value>[],
  from = -Infinity,
): Columns<Value> {
  if (points.length === 0 && (timestamps[0] ?? Infinity) >= from) return { timestamps, values };
  // Of several values of one moment the one pushed last.
  const latest = new Map(points.map((point) => [point.timestamp, point.value]));
  const pushed = [...latest].sort(([a], [b]) => a - b);
  const merged: { timestamps: number[]; values: (Value | null)[] } = { timestamps: [], values: [] };
  let next = 0;
  const add = (timestamp: number, value: Value | null): void => {
    if (timestamp <= from) {
      merged.timestamps.length = 0;
      merged.values.length = 0;
    }
    merged.timestamps.push(timestamp);
    merged.values.push(value);
  };
  for (const [at, timestamp] of timestamps.entries()) {
    for (; next < pushed.length && pushed[next]![0] < timestamp; next += 1) add(...pushed[next]!);
    if (next < pushed.length && pushed[next]![0] === timestamp) {
      add(...pushed[next]!);
      next += 1;
    } else add(timestamp, values[at] ?? null);
  }
  for (; next < pushed.length; next += 1) add(...pushed[next]!);
  return merged;
}

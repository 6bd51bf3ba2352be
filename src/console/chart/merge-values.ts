/** Values of one field as columns in time order: Unix seconds and values; null: a gap. */
export interface Columns<Value> {
  timestamps: readonly number[];
  values: readonly (Value | null)[];
}

/** One pushed value. */
export interface LivePoint<Value> {
  /** Unix seconds. */
  timestamp: number;
  value: Value;
}

/**
 * The columns with pushed values inserted: for an existing time the new value replaces the old, as in the store. Leaves
 * out values before `from` (Unix seconds), except the last of them, from which the line enters.
 */
export function mergeValues<Value>(
  { timestamps, values }: Columns<Value>,
  points: readonly LivePoint<Value>[],
  from = -Infinity,
): Columns<Value> {
  if (points.length === 0 && (timestamps[0] ?? Infinity) >= from) return { timestamps, values };
  // The last pushed value of each time.
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

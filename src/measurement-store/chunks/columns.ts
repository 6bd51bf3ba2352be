import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import { must } from '../../must.ts';

/** Columns from rows; numbers alone become a Float64Array. */
export function toColumns(timestamps: readonly number[], values: readonly StoredValue[]): SegmentColumns {
  const onlyNumbers = values.every((value) => typeof value === 'number');
  return {
    timestamps: Float64Array.from(timestamps),
    values: onlyNumbers ? Float64Array.from(values as number[]) : [...values],
  };
}

/** Both in time order, each time once; at the same time `over` wins. */
export function mergeColumns(under: SegmentColumns, over: SegmentColumns): SegmentColumns {
  if (under.timestamps.length === 0) return over;
  if (over.timestamps.length === 0) return under;
  if (must(under.timestamps.at(-1)) < must(over.timestamps[0])) return joinColumns([under, over]);
  const timestamps: number[] = [];
  const values: StoredValue[] = [];
  let u = 0;
  let o = 0;
  while (u < under.timestamps.length || o < over.timestamps.length) {
    const a = under.timestamps[u] ?? Infinity;
    const b = over.timestamps[o] ?? Infinity;
    const isOver = b <= a;
    timestamps.push(isOver ? b : a);
    values.push(isOver ? must(over.values[o]) : must(under.values[u]));
    if (a <= b) u++;
    if (isOver) o++;
  }
  return toColumns(timestamps, values);
}

/** Columns one behind the other; each begins after the one before it ends. */
export function joinColumns(parts: SegmentColumns[]): SegmentColumns {
  const timestamps = joinNumbers(parts.map((part) => part.timestamps));
  const numbers = parts.map((part) => part.values).filter((values) => values instanceof Float64Array);
  if (numbers.length === parts.length) return { timestamps, values: joinNumbers(numbers) };
  return { timestamps, values: parts.flatMap((part) => Array.from<StoredValue>(part.values)) };
}

function joinNumbers(parts: Float64Array[]): Float64Array {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The rows from index `start` to `end` (exclusive), without copying numbers. */
export function sliceColumns(columns: SegmentColumns, start: number, end: number): SegmentColumns {
  const { timestamps, values } = columns;
  return {
    timestamps: timestamps.subarray(start, end),
    values: values instanceof Float64Array ? values.subarray(start, end) : values.slice(start, end),
  };
}

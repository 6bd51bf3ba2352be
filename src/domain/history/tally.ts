import type { NumberSummary } from '../measurements/segment.ts';

/** Sums and extremes of the numbers of one bucket; times in ms UTC. */
export interface Tally {
  count: number;
  /** The sum is `sum + lost`, with the rounding error kept apart (Neumaier). */
  sum: number;
  lost: number;
  min: number;
  minAt: number;
  max: number;
  maxAt: number;
  first: number;
  firstAt: number;
  last: number;
  lastAt: number;
}

/** The tally of a bucket that begins with this number. */
export function openTally(first: number, firstAt: number): Tally {
  return {
    count: 0,
    sum: 0,
    lost: 0,
    min: first,
    minAt: firstAt,
    max: first,
    maxAt: firstAt,
    first,
    firstAt,
    last: first,
    lastAt: firstAt,
  };
}

/** Adds the numbers from index `start` on that were measured before `until`; returns the index of the next. */
export function addNumbers(
  tally: Tally,
  timestamps: Float64Array,
  values: Float64Array,
  start: number,
  end: number,
  until: number,
): number {
  // Use local variables: every value of a year passes here.
  let { sum, lost, min, max } = tally;
  let minIndex = -1;
  let maxIndex = -1;
  let i = start;
  for (; i < end && timestamps[i]! < until; i++) {
    const value = values[i]!;
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
    if (value < min) {
      min = value;
      minIndex = i;
    } else if (value > max) {
      max = value;
      maxIndex = i;
    }
  }
  if (i === start) return i;
  tally.count += i - start;
  tally.sum = sum;
  tally.lost = lost;
  tally.min = min;
  tally.max = max;
  if (minIndex >= 0) tally.minAt = timestamps[minIndex]!;
  if (maxIndex >= 0) tally.maxAt = timestamps[maxIndex]!;
  tally.last = values[i - 1]!;
  tally.lastAt = timestamps[i - 1]!;
  return i;
}

/** Adds `count` numbers, the last of them at `lastAt`, by their summary alone. */
export function addSummary(tally: Tally, summary: NumberSummary, count: number, lastAt: number): void {
  const next = tally.sum + summary.sum;
  tally.lost +=
    Math.abs(tally.sum) >= Math.abs(summary.sum) ? tally.sum - next + summary.sum : summary.sum - next + tally.sum;
  tally.sum = next;
  tally.count += count;
  if (summary.min < tally.min) {
    tally.min = summary.min;
    tally.minAt = summary.minAt;
  }
  if (summary.max > tally.max) {
    tally.max = summary.max;
    tally.maxAt = summary.maxAt;
  }
  tally.last = summary.last;
  tally.lastAt = lastAt;
}

/** The sum, or null beyond float64. */
export function sumOf(tally: Tally): number | null {
  return finiteOrNull(tally.sum + tally.lost);
}

/** The mean, or null when the sum is beyond float64. */
export function averageOf(tally: Tally): number | null {
  return finiteOrNull((tally.sum + tally.lost) / tally.count);
}

/** The number; null for one that float64 cannot hold, and for NaN. */
export function finiteOrNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

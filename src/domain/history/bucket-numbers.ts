import type { Aggregation } from '../measurements/series-request.ts';
import type { Stretch } from './stretch.ts';
import { addNumbers, addSummary, averageOf, differenceOf, openTally, sumOf, type Tally } from './tally.ts';

/**
 * The tally of each bucket of `edges`, null where nothing was measured; stretches of numbers in time order, all between
 * the first and the last edge. `previous`: the number before them all, NaN when there is none.
 */
export function tallyBuckets(stretches: readonly Stretch[], edges: Float64Array, previous: number): (Tally | null)[] {
  const tallies: (Tally | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let bucket = 0;
  let tally: Tally | null = null;
  let last = previous;
  const open = (number: number, at: number): Tally => {
    while (at >= edges[bucket + 1]!) bucket++;
    if (tally !== null) last = tally.last;
    return (tally = tallies[bucket] ??= openTally(number, at, last));
  };
  for (const { summary, count, firstAt, lastAt, timestamps, values } of stretches) {
    if (timestamps.length === 0) {
      if (summary === null) throw new Error('a segment that is needed was not decoded');
      addSummary(open(summary.first, firstAt), summary, count, lastAt);
      continue;
    }
    const numbers = values as Float64Array;
    for (let i = 0; i < numbers.length;) {
      const current = open(numbers[i]!, timestamps[i]!);
      i = addNumbers(current, timestamps, numbers, i, numbers.length, edges[bucket + 1]!);
    }
  }
  return tallies;
}

/** What the aggregation makes of a bucket; NaN beyond float64. */
export function aggregated(tally: Tally, aggregation: Aggregation): number {
  switch (aggregation) {
    case 'AVG':
      return averageOf(tally) ?? Number.NaN;
    case 'MIN':
      return tally.min;
    case 'MAX':
      return tally.max;
    case 'SUM':
      return sumOf(tally) ?? Number.NaN;
    case 'COUNT':
      return tally.count;
    case 'FIRST':
      return tally.first;
    case 'LAST':
      return tally.last;
    case 'DIFFERENCE':
      return differenceOf(tally) ?? Number.NaN;
  }
}

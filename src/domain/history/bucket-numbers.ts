import type { ValueSpan } from './value-span.ts';
import { addNumbers, addSummary, openTally, type Tally } from './tally.ts';

/**
 * The tally of each bucket of `edges`, null for one without values; `stretches`: numbers in time order, all between the
 * first and the last edge.
 */
export function tallyBuckets(stretches: readonly ValueSpan[], edges: Float64Array): (Tally | null)[] {
  const tallies: (Tally | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let bucket = 0;
  const open = (number: number, at: number): Tally => {
    while (at >= edges[bucket + 1]!) bucket++;
    return (tallies[bucket] ??= openTally(number, at));
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

import type { Columns } from './merge-values.ts';

const FEWEST = 12;
const USUAL = 0.9;
const LONGER_THAN_USUAL = 3;

/**
 * Inserts a null where a device was silent for much longer than usual, so that a chart shows a gap instead of an
 * invented line: three times the pause that nine of ten pauses do not exceed. Few values have no gaps.
 */
export function showGaps<Value>({ timestamps, values }: Columns<Value>): Columns<Value> {
  if (timestamps.length < FEWEST) return { timestamps, values };
  const pauses = Float64Array.from(timestamps.slice(1), (timestamp, at) => timestamp - timestamps[at]!).sort();
  const longest = pauses[Math.floor(pauses.length * USUAL)]! * LONGER_THAN_USUAL;
  if (pauses.at(-1)! <= longest) return { timestamps, values };
  const [shownTimes, shownValues]: [number[], (Value | null)[]] = [[], []];
  for (const [at, timestamp] of timestamps.entries()) {
    const before = timestamps[at - 1];
    if (before !== undefined && timestamp - before > longest) {
      shownTimes.push((before + timestamp) / 2);
      shownValues.push(null);
    }
    shownTimes.push(timestamp);
    shownValues.push(values[at] ?? null);
  }
  return { timestamps: shownTimes, values: shownValues };
}

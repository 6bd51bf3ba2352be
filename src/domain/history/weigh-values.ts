import { addDirection, directionOf } from './directions.ts';
import type { ValueSpan } from './value-span.ts';

/** Sums of one bucket's numbers, weighted by the milliseconds for which each holds there, or all alike. */
export interface Weighed {
  weight: number;
  /** Sum of the numbers times their weights. */
  sum: number;
  /** Sum of directions (see `Arrow`). */
  east: number;
  north: number;
  /** The last number measured in it; NaN: none. */
  last: number;
}

/** The time during which numbers hold, in ms UTC. `before`: the number that holds at the begin, NaN: none. */
interface Held {
  before: number;
  from: number;
  to: number;
}

/**
 * The numbers of each bucket of `edges`, weighted by the time each holds: until the next one, the last until `to`. null
 * when nothing holds and nothing was measured. `stretches` as for `tallyBuckets`.
 */
export function weighHeld(
  stretches: readonly ValueSpan[],
  edges: Float64Array,
  { before, from, to }: Held,
  isAngle: boolean,
): (Weighed | null)[] {
  const weighed: (Weighed | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let [held, since, bucket] = [before, from, 0];
  const hold = (until: number): void => {
    const end = Math.min(until, to);
    for (let at = since; at < end;) {
      while (at >= edges[bucket + 1]!) bucket++;
      const next = Math.min(end, edges[bucket + 1]!);
      add((weighed[bucket] ??= open()), held, next - at, isAngle);
      at = next;
    }
  };
  eachNumber(stretches, (number, at) => {
    if (!Number.isNaN(held)) hold(at);
    [held, since] = [number, at];
    while (at >= edges[bucket + 1]!) bucket++;
    (weighed[bucket] ??= open()).last = number;
  });
  if (!Number.isNaN(held)) hold(to);
  return weighed;
}

/** The directions of each bucket of `edges`, weighted alike; null for one without values. */
export function weighAlike(stretches: readonly ValueSpan[], edges: Float64Array): (Weighed | null)[] {
  const weighed: (Weighed | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let bucket = 0;
  eachNumber(stretches, (number, at) => {
    while (at >= edges[bucket + 1]!) bucket++;
    add((weighed[bucket] ??= open()), number, 1, true);
  });
  return weighed;
}

/**
 * The weighted mean; NaN beyond float64, and when directions cancel out. The last number when none held for any time.
 */
export function weighedMean(weighed: Weighed, isAngle: boolean): number {
  if (weighed.weight === 0) return weighed.last;
  return isAngle ? directionOf(weighed) : asNumber(weighed.sum / weighed.weight);
}

/** The numbers times the seconds for which they held, for booleans the time they were true. NaN beyond float64. */
export function heldSum({ sum }: Weighed): number {
  return asNumber(sum / 1_000);
}

function add(weighed: Weighed, number: number, weight: number, isAngle: boolean): void {
  if (isAngle) addDirection(weighed, number, weight);
  else {
    weighed.weight += weight;
    weighed.sum += number * weight;
  }
}

function open(): Weighed {
  return { weight: 0, sum: 0, east: 0, north: 0, last: Number.NaN };
}

function asNumber(value: number): number {
  return Number.isFinite(value) ? value : Number.NaN;
}

function eachNumber(stretches: readonly ValueSpan[], take: (number: number, at: number) => void): void {
  for (const { timestamps, values } of stretches) {
    if (timestamps.length === 0) throw new Error('a segment that is needed was not decoded');
    for (let i = 0; i < timestamps.length; i++) take(values[i] as number, timestamps[i]!);
  }
}

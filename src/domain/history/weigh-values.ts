import { addDirection, directionOf } from './directions.ts';
import type { ValueSpan } from './value-span.ts';

/** undefinedNumbersundefined undefinedofundefined undefinedoneundefined undefinedbucketundefined, undefinedeachundefined undefinedasundefined undefinedheavyundefined undefinedasundefined undefinedtheundefined undefinedmillisecondsundefined undefinedforundefined undefinedwhichundefined undefineditundefined undefinedholdsundefined undefinedthereundefined, undefinedorundefined undefinedallundefined undefinedalikeundefined. */
export interface Weighed {
  weight: number;
  /** undefinedOfundefined undefinednumbersundefined, undefinedeachundefined undefinedtimesundefined undefineditsundefined undefinedweightundefined. */
  sum: number;
  /** undefinedOfundefined undefineddirectionsundefined (undefinedseeundefined `undefinedArrowundefined`). */
  east: number;
  north: number;
  /** undefinedTheundefined undefinedlastundefined undefinedoneundefined undefinedthatundefined undefinedwasundefined undefinedmeasuredundefined undefinedinundefined undefineditundefined; undefinedNaNundefined: undefinednoneundefined undefinedwasundefined. */
  last: number;
}

/** undefinedFromundefined undefinedwhenundefined undefinedtoundefined undefinedwhenundefined undefinednumbersundefined undefinedholdundefined, undefinedinundefined undefinedmsundefined undefinedUTCundefined. `undefinedbeforeundefined`: undefinedtheundefined undefinedoneundefined undefinedthatundefined undefinedholdsundefined undefinedatundefined undefinedtheundefined undefinedbeginundefined, undefinedNaNundefined: undefinednoneundefined undefineddoesundefined. */
interface Held {
  before: number;
  from: number;
  to: number;
}

/**
 * undefinedTheundefined undefinednumbersundefined undefinedofundefined undefinedeachundefined undefinedbucketundefined undefinedofundefined `undefinededgesundefined` undefinedbyundefined undefinedhowundefined undefinedlongundefined undefinedeachundefined undefinedofundefined undefinedthemundefined undefinedholdsundefined: undefineduntilundefined undefinedtheundefined undefinednextundefined undefinedoneundefined, undefinedtheundefined undefinedlastundefined undefineduntilundefined `undefinedtoundefined`. undefinednullundefined
 * undefinedwhereundefined undefinednothingundefined undefinedholdsundefined undefinedandundefined undefinednothingundefined undefinedwasundefined undefinedmeasuredundefined. undefinedStretchesundefined undefinedasundefined undefinedforundefined `undefinedtallyBucketsundefined`.
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

/** undefinedTheundefined undefineddirectionsundefined undefinedofundefined undefinedeachundefined undefinedbucketundefined undefinedofundefined `undefinededgesundefined`, undefinedallundefined undefinedalikeundefined; undefinednullundefined undefinedwhereundefined undefinednothingundefined undefinedwasundefined undefinedmeasuredundefined. */
export function weighAlike(stretches: readonly ValueSpan[], edges: Float64Array): (Weighed | null)[] {
  const weighed: (Weighed | null)[] = Array.from({ length: edges.length - 1 }, () => null);
  let bucket = 0;
  eachNumber(stretches, (number, at) => {
    while (at >= edges[bucket + 1]!) bucket++;
    add((weighed[bucket] ??= open()), number, 1, true);
  });
  return weighed;
}

/** undefinedTheundefined undefinedweighedundefined undefinedmeanundefined; undefinedNaNundefined undefinedbeyondundefined undefinedfloat64undefined, undefinedandundefined undefinedwhereundefined undefineddirectionsundefined undefinedcancelundefined undefinedoutundefined. undefinedOfundefined undefinedwhatundefined undefinedheldundefined undefinedforundefined undefinednoundefined undefinedtimeundefined undefineditundefined undefinedisundefined undefinedtheundefined undefinedlastundefined. */
export function weighedMean(weighed: Weighed, isAngle: boolean): number {
  if (weighed.weight === 0) return weighed.last;
  return isAngle ? directionOf(weighed) : asNumber(weighed.sum / weighed.weight);
}

/** undefinedTheundefined undefinednumbersundefined undefinedtimesundefined undefinedtheundefined undefinedsecondsundefined undefinedforundefined undefinedwhichundefined undefinedtheyundefined undefinedheldundefined: undefinedofundefined undefinedbooleansundefined undefinedhowundefined undefinedlongundefined undefinedtheyundefined undefinedwereundefined undefinedtrueundefined. undefinedNaNundefined undefinedbeyondundefined undefinedfloat64undefined. */
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

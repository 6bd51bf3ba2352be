const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Delays behind the first try and each further one (CONTRACT 13); behind the last a delivery is DEAD. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
/** Maximum part by which a delay is longer or shorter, so that receivers are not asked by all at once. */
const JITTER = 0.2;
const SHORTEST_ASKED_MS = SECOND_MS;
const LONGEST_ASKED_MS = 24 * HOUR_MS;
/** Tries up to which a receiver may ask for an earlier one: later, one that always does would get the last within seconds. */
const EARLIER_UP_TO = 3;

/**
 * Delay in ms behind the try with this number, from 1; null: it was the last. `askedMs`: what the receiver asked for,
 * if it did; `random`: from 0 to 1.
 */
export function delayBehind(tries: number, askedMs: number | null, random = Math.random()): number | null {
  const delay = DELAYS_MS[tries - 1];
  if (delay === undefined) return null;
  const usual = delay * (1 + JITTER * (2 * random - 1));
  if (askedMs === null) return usual;
  const asked = Math.min(LONGEST_ASKED_MS, Math.max(SHORTEST_ASKED_MS, askedMs));
  return tries <= EARLIER_UP_TO ? asked : Math.max(usual, asked);
}

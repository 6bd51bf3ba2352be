import { EARLIEST_MS } from './looks-like.ts';

/**
 * Maximum distance of a network's time ahead of the server's clock; further ahead it is wrong, which is no reason to
 * lose the values.
 */
const MAX_AHEAD_MS = 86_400_000;

/** Receipt times that one message names, each in ms UTC, in order of preference; null: absent. */
export interface NetworkTimes {
  /** Times of the network server's own clock. */
  server: (number | null)[];
  /** Times of gateway clocks, which may never have been set. */
  gateways: (number | null)[];
}

/**
 * Receipt time of a message in ms UTC: by the network server's clock, else by that of a gateway; null: no named time
 * lies between 2000 and a day ahead of `receivedAt`, which counts then.
 */
export function networkTime({ server, gateways }: NetworkTimes, receivedAt: number): number | null {
  const isPlausible = (time: number | null): boolean =>
    time !== null && time >= EARLIEST_MS && time <= receivedAt + MAX_AHEAD_MS;
  const own = server.find((time) => time !== null) ?? null;
  if (own !== null) return isPlausible(own) ? own : null;
  return gateways.find(isPlausible) ?? null;
}

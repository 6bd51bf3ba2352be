import { EARLIEST_MS } from './looks-like.ts';

/** Further ahead of ours than this a network's time is wrong, and not worth losing the values for. */
const MAX_AHEAD_MS = 86_400_000;

/** What one message says of when it was received, each in ms UTC, in the order in which it counts; null: not said. */
export interface NetworkTimes {
  /** By the network server's own clock. */
  server: (number | null)[];
  /** By the clocks of gateways, which nobody may have set. */
  gateways: (number | null)[];
}

/**
 * When a message was received, in ms UTC: by the network server's clock, or, where that is not said, by that of a gateway;
 * null: what is said does not lie between 2000 and a day ahead of `receivedAt`, which counts then.
 */
export function networkTime({ server, gateways }: NetworkTimes, receivedAt: number): number | null {
  const isPlausible = (time: number | null): boolean =>
    time !== null && time >= EARLIEST_MS && time <= receivedAt + MAX_AHEAD_MS;
  const own = server.find((time) => time !== null) ?? null;
  if (own !== null) return isPlausible(own) ? own : null;
  return gateways.find(isPlausible) ?? null;
}

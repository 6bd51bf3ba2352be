/** Devices whose last time is remembered; beyond that those are forgotten whose time has passed. */
const MAX_DEVICES = 100_000;
/** Further ahead than this is no burst: the clock was put back. */
const MAX_AHEAD_MS = 3_600_000;

/**
 * The receipt times that entries without a timestamp get (CONTRACT 3), in ms UTC: strictly increasing for each device on
 * this node, so that values which arrive within one millisecond do not overwrite each other.
 */
export class ReceiptTimes {
  readonly #last = new Map<number, number>();
  readonly #most: number;
  /** No time before this is given any more; 0 unless all remembered times were still to come when there were too many. */
  #floor = 0;
  #latest = 0;

  constructor(most = MAX_DEVICES) {
    this.#most = most;
  }

  /** How many devices are remembered. */
  get size(): number {
    return this.#last.size;
  }

  /** One time for a request that concerns these devices: `now`, or a millisecond after the last one any of them got. */
  take(deviceKeys: Iterable<number>, now: number): number {
    const latest = now + MAX_AHEAD_MS;
    let time = this.#floor <= latest ? Math.max(now, this.#floor) : now;
    for (const key of deviceKeys) {
      const last = this.#last.get(key);
      if (last !== undefined && last >= time && last < latest) time = last + 1;
    }
    for (const key of deviceKeys) this.#last.set(key, time);
    this.#latest = Math.max(this.#latest, time);
    if (this.#last.size > this.#most) this.#forget(now);
    return time;
  }

  /** By when everything has been received that is there `now`: a burst runs ahead of the clock. */
  latest(now: number): number {
    return this.#latest < now + MAX_AHEAD_MS ? Math.max(now, this.#latest) : now;
  }

  #forget(now: number): void {
    let last = 0;
    for (const [key, time] of this.#last) {
      if (time < now) this.#last.delete(key);
      else last = Math.max(last, time);
    }
    if (this.#last.size <= this.#most) return;
    this.#floor = last + 1;
    this.#last.clear();
  }
}

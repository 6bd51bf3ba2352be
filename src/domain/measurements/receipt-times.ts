/** Devices whose last time is remembered; beyond that those are forgotten whose time has passed. */
const MAX_DEVICES = 100_000;
/** Further ahead than this is no burst: the clock was put back. */
const MAX_AHEAD_MS = 3_600_000;

/** Which milliseconds a node gives: of each `of` the one at place `at`, from 0 on. No two nodes have the same place. */
export interface NodePlace {
  at: number;
  of: number;
}

/**
 * The receipt times that entries without a timestamp get (CONTRACT 3), in ms UTC: strictly increasing for each device on
 * this node, and others than those of the other nodes, so that values which arrive within one millisecond do not
 * overwrite each other.
 */
export class ReceiptTimes {
  readonly #last = new Map<number, number>();
  readonly #most: number;
  readonly #place: () => NodePlace;
  /** No time before this is given any more; 0 unless all remembered times were still to come when there were too many. */
  #floor = 0;
  #latest = 0;

  constructor(place: () => NodePlace = () => ({ at: 0, of: 1 }), most = MAX_DEVICES) {
    this.#place = place;
    this.#most = most;
  }

  /** How many devices are remembered. */
  get size(): number {
    return this.#last.size;
  }

  /**
   * One time for a request that concerns these devices: `now`, as far as this node may give it, or the next one after the
   * last that any of them got.
   */
  take(deviceKeys: Iterable<number>, now: number): number {
    const latest = now + MAX_AHEAD_MS;
    const { at, of } = this.#place();
    // How long ago this node might have given one.
    const past = (time: number): number => (time - at + of) % of;
    let time = now - past(now);
    if (this.#floor <= latest) time = Math.max(time, this.#floor);
    for (const key of deviceKeys) {
      const last = this.#last.get(key);
      if (last !== undefined && last >= time && last < latest) time = last + 1;
    }
    time += (of - past(time)) % of;
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
    const { of } = this.#place();
    for (const [key, time] of this.#last) {
      if (time <= now - of) this.#last.delete(key);
      else last = Math.max(last, time);
    }
    if (this.#last.size <= this.#most) return;
    this.#floor = last + 1;
    this.#last.clear();
  }
}

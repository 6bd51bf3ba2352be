/** Used time in ms, which drains by a share of the time that passes. */
export class LeakyBucket {
  #ms = 0;
  #at: number;

  /** `now`: milliseconds that never go back. */
  constructor(now: number) {
    this.#at = now;
  }

  /** Used time left at `now`, drained by `share` since the last charge. */
  level(now: number, share: number): number {
    return Math.max(0, this.#ms - (now - this.#at) * share);
  }

  /** Adds used time, up to `max`. NaN counts as 0, or the bucket would never drain. */
  add(ms: number, now: number, { share, max }: { share: number; max: number }): void {
    this.#ms = Math.min(max, this.level(now, share) + (Number.isNaN(ms) ? 0 : ms));
    this.#at = now;
  }
}

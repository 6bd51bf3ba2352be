/** What somebody has used, in ms, and is not yet forgotten: so much of each millisecond is that passes. */
export class LeakyBucket {
  #ms = 0;
  #at: number;

  /** `now`: milliseconds that never go back. */
  constructor(now: number) {
    this.#at = now;
  }

  /** What is left of it, `share` of the time having been forgotten since. */
  left(now: number, share: number): number {
    return Math.max(0, this.#ms - (now - this.#at) * share);
  }

  /** More was used; no more than `most` is remembered. What is no number would be held against somebody for ever. */
  add(ms: number, now: number, { share, most }: { share: number; most: number }): void {
    this.#ms = Math.min(most, this.left(now, share) + (Number.isNaN(ms) ? 0 : ms));
    this.#at = now;
  }
}

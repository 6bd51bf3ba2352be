/** So many works go on beside each other as long as each would alone: processors of a small machine. */
const UNHINDERED = 2;
/** When no work has ended for so long, what they wait for stands still: that is nobody's fault. */
const STANDS_STILL_MS = 1_000;

/** One work: how many milliseconds it took of the time that all had together. */
type End = () => number;

/**
 * What works that run beside each other take, divided among them: by the clock alone, who asks for little while others
 * have much done would be charged for waiting for them.
 */
export class SharedTime {
  readonly #now: () => number;
  #running = 0;
  #passedMs = 0;
  #at: number;
  /** When a work ended last, or the first of those that go on began. */
  #aliveAt: number;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
    this.#aliveAt = this.#at;
  }

  /** How many works go on. */
  get running(): number {
    return this.#running;
  }

  /** A work goes on from now until what is given is called, once. */
  begin(): End {
    const from = this.#pass();
    if (this.#running === 0) this.#aliveAt = this.#at;
    this.#running += 1;
    return () => {
      const tookMs = this.#pass() - from;
      this.#running -= 1;
      this.#aliveAt = this.#at;
      return tookMs;
    };
  }

  /** The time as each work has had it so far. */
  #pass(): number {
    const now = this.#now();
    const until = Math.min(now, this.#aliveAt + STANDS_STILL_MS);
    this.#passedMs += Math.max(0, until - this.#at) / Math.max(1, this.#running / UNHINDERED);
    this.#at = now;
    return this.#passedMs;
  }
}

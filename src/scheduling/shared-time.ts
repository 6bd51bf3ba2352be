/** Number of works that do not slow each other down: processors of a small machine. */
const PROCESSORS = 2;
/** Maximum time charged without any work ending; beyond it the database stalls, which is nobody's cost. */
const STALLED_AFTER_MS = 1_000;

/** Ends the work, and returns the milliseconds that it took of the shared time. */
type End = () => number;

/**
 * Divides elapsed time among the works that run at once, so that a small one is not charged for waiting on large ones.
 */
export class SharedTime {
  readonly #now: () => number;
  #running = 0;
  #passedMs = 0;
  #at: number;
  /** When a work last ended, or the first running one began. */
  #progressAt: number;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
    this.#progressAt = this.#at;
  }

  /** Number of running works. */
  get running(): number {
    return this.#running;
  }

  /** Begins a work; call the returned function once at its end. */
  begin(): End {
    const from = this.#advance();
    if (this.#running === 0) this.#progressAt = this.#at;
    this.#running += 1;
    return () => {
      const tookMs = this.#advance() - from;
      this.#running -= 1;
      this.#progressAt = this.#at;
      return tookMs;
    };
  }

  /** Advances the time that each running work has had so far, and returns it. */
  #advance(): number {
    const now = this.#now();
    const until = Math.min(now, this.#progressAt + STALLED_AFTER_MS);
    this.#passedMs += Math.max(0, until - this.#at) / Math.max(1, this.#running / PROCESSORS);
    this.#at = now;
    return this.#passedMs;
  }
}

import { giveWay } from './give-way.ts';

/** Others have their turn when such work has taken so long: 200,000 buckets of a calendar take 20 ms. */
const GIVES_WAY_AFTER_MS = 20;

/**
 * Work that computes on the event loop, such as planning histories, or look-ups in SQLite, which are answered before the
 * loop turns: one after the other, and between them others have their turn, so that many do not hold up everybody.
 */
export class LoopTurns {
  readonly #givesWayAfterMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #tookMs = 0;

  constructor(givesWayAfterMs = GIVES_WAY_AFTER_MS) {
    this.#givesWayAfterMs = givesWayAfterMs;
  }

  /** What `work` gives or throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#tookMs > this.#givesWayAfterMs) {
        await giveWay();
        this.#tookMs = 0;
      }
      const from = performance.now();
      try {
        return await work();
      } finally {
        this.#tookMs += performance.now() - from;
      }
    });
    this.#last = done.catch(() => {});
    return done;
  }
}

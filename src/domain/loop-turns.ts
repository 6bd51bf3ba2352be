/** Others have their turn when such work has taken so long. */
const GIVES_WAY_AFTER_MS = 20;

/**
 * Work that computes on the event loop, such as look-ups in SQLite, which are answered before the loop turns: one after
 * the other, and between them others have their turn, so that many of one operation do not hold up everybody.
 */
export class LoopTurns {
  #last: Promise<unknown> = Promise.resolve();
  #tookMs = 0;

  /** What `work` gives or throws. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#tookMs > GIVES_WAY_AFTER_MS) {
        await new Promise<void>((resolve) => setImmediate(resolve));
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

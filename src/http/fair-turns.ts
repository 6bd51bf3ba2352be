/** How long parsing and checking may keep the event loop from looking at other connections. */
const SLICE_MS = 10;

/**
 * Turns of the event loop: what thousands of ready requests have to compute is done for ten milliseconds at a time, in
 * the order in which they came, and in between the loop hears everybody else (health checks, GraphQL, WebSockets).
 * As long as there is no crowd, work starts at once.
 */
export class FairTurns {
  readonly #waiting: (() => void)[] = [];
  #first = 0;
  #spentMs = 0;
  #armed = false;

  /** Runs the work, now or in its turn. What counts is how long it computes before it waits for something. */
  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#spentMs < SLICE_MS && this.#first === this.#waiting.length) return this.#timed(work);
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => void this.#timed(work).then(resolve, reject));
      this.#arm();
    });
  }

  #timed<T>(work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const result = work();
    this.#spentMs += performance.now() - started;
    this.#arm();
    return result;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#armed = false;
    this.#spentMs = 0;
    while (this.#first < this.#waiting.length && this.#spentMs < SLICE_MS) {
      this.#waiting[this.#first]!();
      this.#first += 1;
    }
    if (this.#first === this.#waiting.length) {
      this.#waiting.length = 0;
      this.#first = 0;
    } else {
      if (this.#first > 1024) {
        this.#waiting.splice(0, this.#first);
        this.#first = 0;
      }
      this.#arm();
    }
  }
}

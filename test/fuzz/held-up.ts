const EVERY_MS = 50;
const LONG_MS = 1_000;

/** Whether this process was kept from running for a while (a busy machine, a debugger): nothing then was the server's fault. */
export class HeldUp {
  #beatAt = performance.now();
  #lastAt = -Infinity;
  readonly #timer = setInterval(() => this.#beat(), EVERY_MS);

  /** Since then, in ms of `performance.now()`. */
  since(started: number): boolean {
    this.#beat();
    return this.#lastAt >= started;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    if (now - this.#beatAt > LONG_MS) this.#lastAt = now;
    this.#beatAt = now;
  }
}

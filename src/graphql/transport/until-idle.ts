/** Frees something once, when it is wanted no longer and nothing works for it any more. */
export class UntilIdle {
  readonly #free: () => void;
  #working = 0;
  #isWanted = true;

  constructor(free: () => void) {
    this.#free = free;
  }

  /** Returns or throws what `work` does, and keeps the thing meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
      if (this.#working === 0 && !this.#isWanted) this.#free();
    }
  }

  /** Call once. */
  end(): void {
    this.#isWanted = false;
    if (this.#working === 0) this.#free();
  }
}

/** Frees something once, when it is wanted no longer and nothing works for it any more: what waits for its turn may be gone. */
export class UntilIdle {
  readonly #free: () => void;
  #working = 0;
  #isWanted = true;

  constructor(free: () => void) {
    this.#free = free;
  }

  /** What `work` gives or throws. */
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

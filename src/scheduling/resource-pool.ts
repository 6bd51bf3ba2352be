/** So many things at most that one user has at a time each; who comes when all are in use waits, first come first served. */
export class ResourcePool<T> {
  readonly #most: number;
  readonly #make: (made: number) => T;
  readonly #free: T[] = [];
  readonly #waiting: ((thing: T) => void)[] = [];
  #made = 0;

  /** `make`: another one, when it is needed; `made`: how many there are already. */
  constructor(most: number, make: (made: number) => T) {
    this.#most = most;
    this.#make = make;
  }

  async use<R>(work: (thing: T) => Promise<R>): Promise<R> {
    const thing = await this.#take();
    try {
      return await work(thing);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(thing);
      else this.#free.push(thing);
    }
  }

  #take(): T | Promise<T> {
    if (this.#free.length > 0) return this.#free.pop()!;
    if (this.#made === this.#most) return new Promise((resolve) => this.#waiting.push(resolve));
    const thing = this.#make(this.#made);
    this.#made += 1;
    return thing;
  }
}

/** Pool of up to `max` resources, each used by one user at a time; users wait in the order they came. */
export class ResourcePool<T> {
  readonly #max: number;
  readonly #make: (made: number) => T;
  readonly #free: T[] = [];
  readonly #waiting: ((resource: T) => void)[] = [];
  #made = 0;

  /** `make`: makes another one when it is needed; `made`: number made so far. */
  constructor(max: number, make: (made: number) => T) {
    this.#max = max;
    this.#make = make;
  }

  async use<R>(work: (resource: T) => Promise<R>): Promise<R> {
    const resource = await this.#take();
    try {
      return await work(resource);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(resource);
      else this.#free.push(resource);
    }
  }

  #take(): T | Promise<T> {
    if (this.#free.length > 0) return this.#free.pop()!;
    if (this.#made === this.#max) return new Promise((resolve) => this.#waiting.push(resolve));
    const resource = this.#make(this.#made);
    this.#made += 1;
    return resource;
  }
}

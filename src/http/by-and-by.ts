/** How long this keeps the event loop from others at a time. */
const SLICE_MS = 1;

/** Does something with each of thousands that are given in one piece, a slice in each turn of the event loop. */
export class ByAndBy<T> {
  readonly #work: (one: T) => void;
  readonly #line = new Set<T>();

  constructor(work: (one: T) => void) {
    this.#work = work;
  }

  add(one: T): void {
    if (this.#line.size === 0) setImmediate(this.#turn);
    this.#line.add(one);
  }

  readonly #turn = (): void => {
    const until = performance.now() + SLICE_MS;
    for (const one of this.#line) {
      this.#line.delete(one);
      this.#work(one);
      if (performance.now() >= until) break;
    }
    if (this.#line.size > 0) setImmediate(this.#turn);
  };
}

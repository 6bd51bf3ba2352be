/**
 * A live stream with each event turned into what subscribers get; null leaves the event out. Not an async generator on
 * purpose: `return` must end a waiting `next` at once, and a generator would queue it behind.
 */
export class LiveIterator<Event, Result> implements AsyncIterableIterator<Result> {
  readonly #source: AsyncIterator<Event>;
  readonly #toResult: (event: Event) => Promise<Result | null>;
  readonly #endsOn: (error: unknown) => boolean;

  /** `endsOn`: whether an error of the source just ends the stream (somebody else tells the reader why). */
  constructor(
    source: AsyncIterator<Event>,
    toResult: (event: Event) => Promise<Result | null>,
    endsOn: (error: unknown) => boolean = () => false,
  ) {
    this.#source = source;
    this.#toResult = toResult;
    this.#endsOn = endsOn;
  }

  async next(): Promise<IteratorResult<Result>> {
    for (;;) {
      const step = await this.#step();
      if (step.done) return { value: undefined, done: true };
      const value = await this.#toResult(step.value);
      if (value !== null) return { value, done: false };
    }
  }

  async return(): Promise<IteratorResult<Result>> {
    await this.#source.return?.();
    return { value: undefined, done: true };
  }

  /** graphql-ws takes only what has all three for a stream that it can stop. */
  async throw(error: unknown): Promise<IteratorResult<Result>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #step(): Promise<IteratorResult<Event>> {
    try {
      return await this.#source.next();
    } catch (error) {
      if (!this.#endsOn(error)) throw error;
      return { value: undefined, done: true };
    }
  }
}

import { asResult, type LiveQueue } from '../../scheduling/bounded-stream.ts';

/** Something that happened, on its way to a subscriber. */
export interface LiveEvent {
  /** One object for all subscriptions that are told of it: equal ones share the answer. null: it is for one. */
  of: object | null;
  /** Value of the subscription's field; null: there is nothing to tell. */
  value: () => object | null | Promise<object | null>;
}

/** The events that a subscription listens to. */
export class LiveStream<Item = unknown> implements LiveQueue<LiveEvent> {
  readonly #queue: LiveQueue<Item>;
  readonly #toEvent: (item: Item) => LiveEvent;

  constructor(queue: LiveQueue<Item>, toEvent: (item: Item) => LiveEvent) {
    this.#queue = queue;
    this.#toEvent = toEvent;
  }

  async take(most: number): Promise<LiveEvent[]> {
    return (await this.#queue.take(most)).map(this.#toEvent);
  }

  async next(): Promise<IteratorResult<LiveEvent>> {
    return asResult(await this.take(1));
  }

  async return(): Promise<IteratorResult<LiveEvent>> {
    await this.#queue.return();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

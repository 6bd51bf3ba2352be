import { asResult, type LiveQueue } from '../../scheduling/bounded-stream.ts';

/** Something that happened, on its way to a subscriber. */
export interface LiveEvent {
  /** The same for all who are told of it: what equal subscriptions share the answer of. null: it is this one's alone. */
  of: object | null;
  /** What the field of the subscription gets; null: there is nothing to tell. */
  value: () => object | null | Promise<object | null>;
}

/** What a subscription listens to. */
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

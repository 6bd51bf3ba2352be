import { AppError } from '../errors.ts';

interface BoundedStreamOptions<Item, Out> {
  /** There from the start; not counted, as somebody keeps them anyway. */
  initial?: Item[];
  sizeOf: (item: Item) => number;
  /** What the reader gets of an item, made when it is read. */
  read: (item: Item) => Out;
  /** What may lie unread before the stream ends with OVERLOADED. */
  maxUnread: number;
  /** What the reader is told then: what to do. */
  tooSlow: string;
  /** Called once, when the stream ends for whatever reason. */
  onEnd: () => void;
}

/** A queue between a live feed and one reader that never grows beyond its bound (CONTRACT 7). */
export class BoundedStream<Item, Out = Item> implements AsyncIterableIterator<Out> {
  readonly #options: BoundedStreamOptions<Item, Out>;
  #unread: Item[];
  #size = 0;
  /** How many of the unread ones were there from the start. */
  #uncounted: number;
  #waiting: { resolve: (result: IteratorResult<Out>) => void; reject: (error: AppError) => void }[] = [];
  #error: AppError | null = null;
  #done = false;

  constructor(options: BoundedStreamOptions<Item, Out>) {
    this.#options = options;
    this.#unread = options.initial ?? [];
    this.#uncounted = this.#unread.length;
  }

  /** Puts items before what is there, which loses those that are among them; like `initial`, they are not counted. */
  begin(items: Item[], isAmong: (item: Item) => boolean): void {
    if (this.#done) return;
    const rest = this.#unread.slice(this.#uncounted).filter((item) => !isAmong(item));
    this.#size = rest.reduce((size, item) => size + this.#options.sizeOf(item), 0);
    this.#unread = [...items, ...rest];
    this.#uncounted = items.length;
  }

  offer(item: Item): void {
    if (this.#done) return;
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting.resolve({ value: this.#options.read(item), done: false });
      return;
    }
    const { sizeOf, maxUnread, tooSlow } = this.#options;
    this.#unread.push(item);
    this.#size += sizeOf(item);
    if (this.#size <= maxUnread) return;
    this.fail(new AppError('OVERLOADED', tooSlow));
  }

  async next(): Promise<IteratorResult<Out>> {
    const item = this.#unread.shift();
    if (item !== undefined) {
      if (this.#uncounted > 0) this.#uncounted -= 1;
      else this.#size -= this.#options.sizeOf(item);
      return { value: this.#options.read(item), done: false };
    }
    if (this.#error !== null) {
      const error = this.#error;
      this.#error = null;
      throw error;
    }
    if (this.#done) return { value: undefined, done: true };
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Ends the stream: its reader is told why, after nothing that still lay unread. */
  fail(error: AppError): void {
    if (this.#done) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#error = error;
    else waiting.reject(error);
    this.#end();
  }

  async return(): Promise<IteratorResult<Out>> {
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#unread = [];
    if (this.#done) return;
    this.#done = true;
    this.#options.onEnd();
    for (const { resolve } of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
  }
}

import { AppError } from '../errors.ts';
import { MUCH_UNREAD, type UnreadOfTenant } from './unread-memory.ts';

interface BoundedStreamOptions<Item, Out> {
  sizeOf: (item: Item) => number;
  /** What the reader gets of an item, made when it is read. */
  read: (item: Item) => Out;
  /** What may lie unread before the stream ends with OVERLOADED. */
  maxUnread: number;
  /** What the reader is told then: what to do. */
  tooSlow: string;
  /** With whose other streams it may have so much in memory, sizes being bytes; asked when it has much. Left out: with none. */
  besides?: () => UnreadOfTenant;
  /** Called once, when the stream ends for whatever reason. */
  onEnd: () => void;
}

/** What one reader reads of a live feed. */
export interface LiveQueue<Out> extends AsyncIterableIterator<Out> {
  /** What lies unread, at most so much, as soon as there is anything; empty: the end. */
  take(most: number): Promise<Out[]>;
  return(): Promise<IteratorResult<Out>>;
}

/** A queue between a live feed and one reader that never grows beyond its bound (CONTRACT 7). */
export class BoundedStream<Item, Out = Item> implements LiveQueue<Out> {
  readonly #options: BoundedStreamOptions<Item, Out>;
  #unread: Item[] = [];
  #size = 0;
  /** Wakes those who wait for something to read. */
  #waiting: (() => void)[] = [];
  #error: AppError | null = null;
  #done = false;
  /** Since much lies unread, until nothing does. */
  #counted: UnreadOfTenant | null = null;

  constructor(options: BoundedStreamOptions<Item, Out>) {
    this.#options = options;
  }

  /** Of what lies unread these were told otherwise. */
  drop(isTold: (item: Item) => boolean): void {
    this.#unread = this.#unread.filter((item) => {
      const isLeft = isTold(item);
      if (isLeft) this.#left(item);
      return !isLeft;
    });
  }

  /** What lies unread, as `sizeOf` says. */
  get unreadBytes(): number {
    return this.#size;
  }

  /** Somebody waits for something to read. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  offer(item: Item): void {
    if (this.#done) return;
    const { sizeOf, maxUnread } = this.#options;
    const size = sizeOf(item);
    this.#unread.push(item);
    this.#size += size;
    if (this.#counted !== null) this.#counted.add(item, size);
    else if (this.#size > MUCH_UNREAD) this.#count();
    this.#counted?.bound();
    if (this.#done) return;
    // What is alone is not too much, however long: its reader may be waiting for it.
    if (this.#size > maxUnread && this.#unread.length > 1) this.tooSlow();
    else this.#wake();
  }

  /** Ends the stream: its reader does not keep up. */
  tooSlow(): void {
    this.fail(new AppError('OVERLOADED', this.#options.tooSlow));
  }

  async take(most: number): Promise<Out[]> {
    while (this.#unread.length === 0) {
      if (this.#error !== null) {
        const error = this.#error;
        this.#error = null;
        throw error;
      }
      if (this.#done) return [];
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const taken = this.#unread.splice(0, most);
    for (const item of taken) this.#left(item);
    if (this.#unread.length === 0) this.#countNoLonger();
    return taken.map(this.#options.read);
  }

  async next(): Promise<IteratorResult<Out>> {
    return asResult(await this.take(1));
  }

  /** Ends the stream: its reader is told why, after nothing that still lay unread. */
  fail(error: AppError): void {
    if (this.#done) return;
    this.#error = error;
    this.#end();
  }

  async return(): Promise<IteratorResult<Out>> {
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #count(): void {
    const counted = this.#options.besides?.();
    if (counted === undefined) return;
    this.#counted = counted;
    counted.join(this);
    for (const item of this.#unread) counted.add(item, this.#options.sizeOf(item));
  }

  #countNoLonger(): void {
    this.#counted?.leave(this);
    this.#counted = null;
  }

  #left(item: Item): void {
    const size = this.#options.sizeOf(item);
    this.#size -= size;
    this.#counted?.remove(item, size);
  }

  #end(): void {
    for (const item of this.#unread) this.#left(item);
    this.#countNoLonger();
    this.#unread = [];
    if (this.#done) return;
    this.#done = true;
    this.#options.onEnd();
    this.#wake();
  }

  #wake(): void {
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** What `next` of a queue answers when `take(1)` took this. */
export function asResult<Out>(taken: readonly Out[]): IteratorResult<Out> {
  return taken.length === 0 ? { value: undefined, done: true } : { value: taken[0]!, done: false };
}

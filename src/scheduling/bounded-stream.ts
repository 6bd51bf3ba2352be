import { AppError } from '../errors.ts';
import type { UnreadOfTenant } from './backlog-memory.ts';

/** What an item takes in each stream beside what it is itself. */
const PLACE_BYTES = 16;

interface BoundedStreamOptions<Item, Out> {
  sizeOf: (item: Item) => number;
  /** What the reader gets of an item, made when it is read. */
  read: (item: Item) => Out;
  /** What may lie unread before the stream ends with OVERLOADED. */
  maxUnread: number;
  /** What the reader is told then: what to do. */
  tooSlow: string;
  /** With whose other streams it may have so much in memory, sizes being bytes. Left out: with none. */
  besides?: UnreadOfTenant;
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
  /** What stands behind something else that has yet to come; null: nothing has. */
  #held: Item[] | null = null;
  #size = 0;
  /** Wakes those who wait for something to read. */
  #waiting: (() => void)[] = [];
  #error: AppError | null = null;
  #done = false;
  /** Since much lies unread, until nothing does: each item, as others may have the same. */
  #isCounted = false;

  constructor(options: BoundedStreamOptions<Item, Out>) {
    this.#options = options;
    options.besides?.open();
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
    this.#add(item, this.#held ?? this.#unread);
  }

  /** What is offered from now on comes when it is let go, and what is put before it first. */
  hold(): void {
    this.#held = [];
  }

  before(item: Item): void {
    this.#add(item, this.#unread);
  }

  letGo(): void {
    for (const item of this.#held ?? []) this.#unread.push(item);
    this.#held = null;
    if (this.#unread.length > 0) this.#wake();
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
    if (this.#unread.length === 0 && this.#held === null) this.#countNoLonger();
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

  #add(item: Item, items: Item[]): void {
    if (this.#done) return;
    const { sizeOf, maxUnread, besides } = this.#options;
    const size = sizeOf(item);
    items.push(item);
    this.#size += size;
    if (this.#isCounted) besides!.add(item, size, PLACE_BYTES);
    else if (besides?.isMuch(this.#inMemory(), size + PLACE_BYTES)) this.#count(besides);
    if (this.#isCounted) besides!.bound();
    if (this.#done) return;
    // What is alone is not too much, however long: its reader may be waiting for it.
    if (this.#size > maxUnread && items.length > 1) this.tooSlow();
    else if (items === this.#unread) this.#wake();
  }

  #count(besides: UnreadOfTenant): void {
    this.#isCounted = true;
    besides.join(this);
    for (const item of this.#all()) besides.add(item, this.#options.sizeOf(item), PLACE_BYTES);
  }

  #countNoLonger(): void {
    if (this.#isCounted) this.#options.besides!.leave(this);
    this.#isCounted = false;
  }

  #inMemory(): number {
    return this.#size + PLACE_BYTES * (this.#unread.length + (this.#held?.length ?? 0));
  }

  #all(): Item[] {
    return this.#held === null ? this.#unread : [...this.#unread, ...this.#held];
  }

  #left(item: Item): void {
    const size = this.#options.sizeOf(item);
    this.#size -= size;
    if (this.#isCounted) this.#options.besides!.remove(item, size, PLACE_BYTES);
    else this.#options.besides?.less(size + PLACE_BYTES);
  }

  #end(): void {
    for (const item of this.#all()) this.#left(item);
    this.#countNoLonger();
    this.#unread = [];
    this.#held = null;
    if (this.#done) return;
    this.#done = true;
    this.#options.besides?.close();
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

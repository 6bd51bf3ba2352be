import { AppError } from '../errors.ts';
import type { TenantBacklog } from './backlog-memory.ts';

/** Bytes of an item's place in a stream, beside the item itself. */
const BYTES_PER_ITEM = 16;

/** How a stream holds its items. */
export interface BoundedStreamOptions<Item, Out> {
  /** In bytes. */
  sizeOf: (item: Item) => number;
  /** Makes what the reader gets of an item, when it is read. */
  read: (item: Item) => Out;
  /** Maximum unread size before the stream ends with OVERLOADED. */
  maxUnread: number;
  /** Message of that error: what the reader should do. */
  tooSlow: string;
  /** Memory that it shares with the other streams of its tenant. */
  backlog: TenantBacklog;
  /** Called once, when the stream ends for whatever reason. */
  onEnd: () => void;
}

/** Read side of a live feed, for one reader. */
export interface LiveQueue<Out> extends AsyncIterableIterator<Out> {
  /** Resolves with up to `max` unread items as soon as there are any; with none at the end. */
  take(max: number): Promise<Out[]>;
  return(): Promise<IteratorResult<Out>>;
}

/** A queue between a live feed and one reader that never grows beyond its bound (CONTRACT 7). */
export class BoundedStream<Item, Out = Item> implements LiveQueue<Out> {
  readonly #options: BoundedStreamOptions<Item, Out>;
  #unread: Item[] = [];
  #size = 0;
  /** Wake readers that wait for an item. */
  #waiting: (() => void)[] = [];
  #error: AppError | null = null;
  #done = false;
  /** Its items are counted one by one, because other streams may share them. */
  #isMetered = false;

  constructor(options: BoundedStreamOptions<Item, Out>) {
    this.#options = options;
    options.backlog.open();
  }

  /** Removes unread items that are obsolete. */
  drop(isObsolete: (item: Item) => boolean): void {
    const obsolete = this.#unread.filter(isObsolete);
    if (obsolete.length === 0) return;
    for (const item of obsolete) this.#removed(item);
    this.#unread = this.#unread.filter((item) => !isObsolete(item));
  }

  /** Unread size, as `sizeOf` counts it. */
  get unreadBytes(): number {
    return this.#size;
  }

  /** Whether a reader waits for an item. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  offer(item: Item): void {
    if (this.#done) return;
    const { sizeOf, maxUnread, backlog } = this.#options;
    const size = sizeOf(item);
    this.#unread.push(item);
    this.#size += size;
    if (this.#isMetered) backlog.add(item, size, BYTES_PER_ITEM);
    else if (backlog.outgrows(this.#memoryBytes(), size + BYTES_PER_ITEM)) this.#startMetering();
    if (this.#isMetered) backlog.enforce();
    if (this.#done) return;
    // A single item is never too much: its reader may be waiting for it.
    if (this.#size > maxUnread && this.#unread.length > 1) this.tooSlow();
    else this.#wake();
  }

  /** Ends the stream because its reader does not keep up. */
  tooSlow(): void {
    this.fail(new AppError('OVERLOADED', this.#options.tooSlow));
  }

  async take(max: number): Promise<Out[]> {
    while (this.#unread.length === 0) {
      if (this.#error !== null) {
        const error = this.#error;
        this.#error = null;
        throw error;
      }
      if (this.#done) return [];
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const taken = this.#unread.splice(0, max);
    for (const item of taken) this.#removed(item);
    if (this.#unread.length === 0) this.#stopMetering();
    return taken.map(this.#options.read);
  }

  async next(): Promise<IteratorResult<Out>> {
    return asResult(await this.take(1));
  }

  /** Ends the stream; its reader gets the error after no more items. */
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

  #startMetering(): void {
    const { backlog, sizeOf } = this.#options;
    this.#isMetered = true;
    backlog.join(this);
    for (const item of this.#unread) backlog.add(item, sizeOf(item), BYTES_PER_ITEM);
  }

  #stopMetering(): void {
    if (this.#isMetered) this.#options.backlog.leave(this);
    this.#isMetered = false;
  }

  #memoryBytes(): number {
    return this.#size + BYTES_PER_ITEM * this.#unread.length;
  }

  #removed(item: Item): void {
    const { backlog, sizeOf } = this.#options;
    const size = sizeOf(item);
    this.#size -= size;
    if (this.#isMetered) backlog.remove(item, size, BYTES_PER_ITEM);
    else backlog.shrink(size + BYTES_PER_ITEM);
  }

  #end(): void {
    for (const item of this.#unread) this.#removed(item);
    this.#stopMetering();
    this.#unread = [];
    if (this.#done) return;
    this.#done = true;
    this.#options.backlog.close();
    this.#options.onEnd();
    this.#wake();
  }

  #wake(): void {
    if (this.#waiting.length > 0) for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** The answer of `next` for what `take(1)` resolved with. */
export function asResult<Out>(taken: readonly Out[]): IteratorResult<Out> {
  return taken.length === 0 ? { value: undefined, done: true } : { value: taken[0]!, done: false };
}

import { AppError } from '../../errors.ts';
import type { Cluster } from '../cluster.ts';
import type { CallRow, MeasurementStore } from '../measurements/store.ts';
import { type LoggedCall, toLoggedCall } from './logged-call.ts';

/** What one subscriber may leave unread before it is closed. */
const UNREAD_CALLS = 1_000;
const UNREAD_CHARACTERS = 8_000_000;

/**
 * The live call log (contract `webhookCalled`). Other nodes are told the id only and read the row when somebody there
 * listens: it is committed by then.
 */
export class CallFeed {
  readonly #cluster: Cluster;
  readonly #store: MeasurementStore;
  readonly #subscribers = new Map<string, Set<Subscriber>>();

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    cluster.onMessage('called', (message) => void this.#heard(message).catch(() => {}));
  }

  /** Call after the commit of the row. Never waits. */
  publish(productId: string, row: CallRow): void {
    this.#deliver(productId, row);
    if (this.#cluster.shared)
      this.#cluster.publish('called', JSON.stringify({ productId, productKey: row.productKey, id: row.id }));
  }

  subscribe(productId: string): AsyncIterableIterator<LoggedCall> {
    const subscriber = new Subscriber(() => {
      const others = this.#subscribers.get(productId);
      others?.delete(subscriber);
      if (others?.size === 0) this.#subscribers.delete(productId);
    });
    const subscribers = this.#subscribers.get(productId) ?? new Set();
    this.#subscribers.set(productId, subscribers.add(subscriber));
    return subscriber;
  }

  stop(): void {
    for (const subscribers of this.#subscribers.values())
      for (const subscriber of subscribers) void subscriber.return();
  }

  #deliver(productId: string, row: CallRow): void {
    const subscribers = this.#subscribers.get(productId);
    if (subscribers === undefined) return;
    for (const subscriber of subscribers) subscriber.offer(row);
  }

  async #heard(message: string): Promise<void> {
    const { productId, productKey, id } = JSON.parse(message) as { productId: string; productKey: number; id: string };
    if (!this.#subscribers.has(productId)) return;
    const row = await this.#store.call(productKey, id);
    if (row !== null) this.#deliver(productId, row);
  }
}

/** A bounded queue between the receiver and one reader. */
class Subscriber implements AsyncIterableIterator<LoggedCall> {
  readonly #left: () => void;
  #unread: CallRow[] = [];
  #characters = 0;
  #waiting: ((result: IteratorResult<LoggedCall>) => void)[] = [];
  #error: AppError | null = null;
  #done = false;

  constructor(left: () => void) {
    this.#left = left;
  }

  offer(row: CallRow): void {
    const resolve = this.#waiting.shift();
    if (resolve !== undefined) {
      resolve({ value: toLoggedCall(row), done: false });
      return;
    }
    this.#unread.push(row);
    this.#characters += sizeOf(row);
    if (this.#unread.length <= UNREAD_CALLS && this.#characters <= UNREAD_CHARACTERS) return;
    this.#unread = [];
    this.#error = new AppError('OVERLOADED', 'This subscriber reads too slowly; subscribe again and read `calls`.');
    this.#end();
  }

  async next(): Promise<IteratorResult<LoggedCall>> {
    const row = this.#unread.shift();
    if (row !== undefined) {
      this.#characters -= sizeOf(row);
      return { value: toLoggedCall(row), done: false };
    }
    if (this.#error !== null) {
      const error = this.#error;
      this.#error = null;
      throw error;
    }
    if (this.#done) return { value: undefined, done: true };
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async return(): Promise<IteratorResult<LoggedCall>> {
    this.#unread = [];
    this.#end();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    if (this.#done) return;
    this.#done = true;
    this.#left();
    for (const resolve of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
  }
}

function sizeOf(row: CallRow): number {
  return row.body.length + row.headers.length + (row.run?.length ?? 0);
}

import { AppError } from '../../errors.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { PrefetchCredits } from '../../scheduling/prefetch.ts';
import { nextTurn } from '../../scheduling/yield-to-event-loop.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { LiveFeed } from '../live/live-feed.ts';
import type { LiveReader, OlderPage } from '../live/live-subscription.ts';
import type { Cluster } from '../ports/cluster.ts';
import { type CallQuery, type CallRow, type CallStatus, type MeasurementStore } from '../ports/store.ts';
import { CallPages, charactersOf } from './call-pages.ts';
import { type CallEvent, JustRead } from './just-read.ts';
import { LoggedCall } from './logged-call.ts';

/** An event that is not handed out yet; without a row it is another node's, and read in its turn. */
type WaitingEvent = Omit<CallEvent, 'row'> & { id: string; row: CallRow | null };

/** A product that somebody subscribes to. */
interface FollowedProduct {
  id: string;
  key: number;
  /** Subscriptions that have not ended. */
  subscriptions: number;
  waiting: WaitingEvent[];
  characters: number;
  isNotifying: boolean;
  /** Number of its last event. */
  lastAt: number;
}

/** `last`: how many of the newest calls come first; `statuses` null: all. */
export interface LiveCallChoice {
  last: number;
  statuses: CallStatus[] | null;
}

/** Calls per page, of up to hundreds of kilobytes each. */
const PAGE_CALLS = 10;
/** Maximum unread bytes of a subscription. */
const MAX_UNREAD = 16_000_000;
/** Maximum characters of a product's events that wait: those of a flush, and of some seconds to thousands. */
const MAX_WAITING = 32_000_000;

const MISSED = new AppError('UNAVAILABLE', 'Calls were missed; subscribe again and read `calls`.');

/**
 * The live call log (contract `webhookCalled`). Other nodes are told the id only, and read the row when somebody there
 * subscribes: it is committed by then.
 */
export class CallFeed {
  readonly #cluster: Cluster;
  readonly #store: MeasurementStore;
  readonly #live = new LiveFeed<CallEvent, string, LoggedCall>(({ productId }) => productId, {
    sizeOf: ({ row }) => bytesOf(row),
    read: ({ row }) => new LoggedCall(row),
    maxUnread: MAX_UNREAD,
    tooSlow: 'This subscriber reads too slowly; subscribe again and read `calls`.',
  });
  readonly #pages: CallPages;
  readonly #credits = new PrefetchCredits();
  /** By id. */
  readonly #products = new Map<string, FollowedProduct>();
  #events = 0;

  readonly #called: ((productId: string, row: CallRow) => void)[] = [];

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    this.#pages = new CallPages(store, () => this.#events);
    cluster.onMessage('called', (message) => this.#hear(message));
    cluster.onMissed(() => {
      for (const product of this.#products.values()) this.#forget(product);
      this.#live.fail(MISSED);
    });
  }

  /** Calls the listener for each call that this node has committed. */
  onCalled(listener: (productId: string, row: CallRow) => void): void {
    this.#called.push(listener);
  }

  /** Call it after the commit of the row. Never waits. `again`: its outcome was rewritten. */
  publish(productId: string, row: CallRow, again = false): void {
    if (!again) for (const listener of this.#called) listener(productId, row);
    this.#enqueue(productId, row.id, again, row);
    if (this.#cluster.shared) this.#cluster.publish('called', JSON.stringify({ productId, id: row.id, again }));
  }

  /** Begins with the newest `last` calls, oldest of them first; each call comes once. */
  async subscribe(
    { id, key }: Pick<ProductInfo, 'id' | 'key'>,
    { last, statuses }: LiveCallChoice,
    reader: LiveReader,
  ): Promise<LiveQueue<LoggedCall>> {
    const product = this.#products.get(id) ?? this.#follow(id, key);
    const justRead = new JustRead(() => product.waiting.length > 0);
    // Events up to here, whether they are handed out or wait, are of calls in the log.
    const { lastAt } = product;
    const subscription = this.#live.open(
      {
        topics: new Set([id]),
        wants: (event) =>
          event.at > lastAt && (statuses?.includes(event.row.status) ?? true) && !justRead.hasEvent(event),
      },
      reader.party.tenant,
      () => {
        justRead.end();
        product.subscriptions -= 1;
        if (product.subscriptions === 0) this.#forget(product);
      },
    );
    product.subscriptions += 1;
    // First, so that what is logged while the log is read is in one of both.
    this.#live.add(subscription);
    if (last === 0) return subscription;
    const filter = { productKey: key, ...(statuses === null ? {} : { statuses }) };
    try {
      await reader.turns.next();
      // One more: those that come begin behind it.
      const count: CallQuery = { ...filter, limit: last + 1 };
      const found = await this.#pages.count(count, reader, lastAt);
      let after = found.count > last ? found.last : null;
      const older = async (): Promise<OlderPage<LoggedCall>> => {
        const query = { ...filter, ...(after === null ? {} : { after }), oldestFirst: true, limit: PAGE_CALLS };
        const { rows, readAt } = await this.#pages.read(query, reader, lastAt);
        // Others may be logged between those that were there, or vanish, meanwhile: they are not counted.
        const end = rows.findIndex((row) => row.id === found.first) + 1;
        const wanted = end > 0 ? rows.slice(0, end) : rows;
        justRead.add(wanted, readAt);
        subscription.drop((event) => justRead.hasEvent(event));
        after = wanted.at(-1)?.id ?? after;
        return { items: wanted.map((row) => new LoggedCall(row)), isLast: end > 0 || rows.length < PAGE_CALLS };
      };
      if (found.first !== null) subscription.readFirst(older, reader, this.#credits);
      return subscription;
    } catch (error) {
      await subscription.return();
      throw error;
    }
  }

  #follow(id: string, key: number): FollowedProduct {
    const waiting: WaitingEvent[] = [];
    const lastAt = (this.#events += 1);
    const product = { id, key, subscriptions: 0, waiting, characters: 0, isNotifying: false, lastAt };
    this.#products.set(id, product);
    return product;
  }

  #forget(product: FollowedProduct): void {
    product.waiting = [];
    if (this.#products.get(product.id) === product) this.#products.delete(product.id);
  }

  #hear(message: string): void {
    const heard = readMessage(message);
    if (heard !== null) this.#enqueue(heard.productId, heard.id, heard.again, null);
  }

  #enqueue(productId: string, id: string, again: boolean, row: CallRow | null): void {
    const product = this.#products.get(productId);
    if (product === undefined) return;
    product.lastAt = this.#events += 1;
    product.waiting.push({ productId, id, again, row, at: product.lastAt });
    product.characters += charactersOf(row);
    if (product.characters > MAX_WAITING) this.#fail(product);
    else if (!product.isNotifying) void runAs(NOBODY, () => this.#notify(product));
  }

  /** Hands out what waits, in order. Never rejects: subscribers are told that something was missed. */
  async #notify(product: FollowedProduct): Promise<void> {
    product.isNotifying = true;
    try {
      // What is logged together is handed out together.
      await nextTurn();
      while (product.waiting.length > 0) {
        const some = product.waiting.slice(0, PAGE_CALLS);
        const rows = await Promise.all(some.map(async ({ id, row }) => row ?? this.#store.call(product.key, id)));
        // Without a row it was removed since.
        await this.#live.notify(some.flatMap((event, at) => (rows[at] ? [{ ...event, row: rows[at] }] : [])));
        for (const { row } of product.waiting.splice(0, some.length)) product.characters -= charactersOf(row);
      }
    } catch {
      this.#fail(product);
    }
    product.isNotifying = false;
  }

  /** Ends its subscriptions: they must begin anew, and get nothing behind what they missed. */
  #fail(product: FollowedProduct): void {
    this.#forget(product);
    this.#live.fail(MISSED, product.id);
  }
}

function bytesOf(row: CallRow): number {
  return 2 * (charactersOf(row) + row.path.length + row.query.length);
}

/** null: no node of ours has sent this. */
function readMessage(message: string): { productId: string; id: string; again: boolean } | null {
  try {
    const { productId, id, again } = JSON.parse(message) as Record<string, unknown>;
    if (typeof productId !== 'string' || typeof id !== 'string') return null;
    return { productId, id, again: again === true };
  } catch {
    return null;
  }
}

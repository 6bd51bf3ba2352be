import { notFound } from '../../errors.ts';
import type { CallCount, CallFilter, CallQuery, CallStatus, MeasurementStore } from '../ports/store.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { type Page, pageOf } from '../sql/page.ts';
import type { IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { isUuid } from '../text/uuid.ts';
import type { Access } from '../access/access.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { CallFeed, LiveCallChoice } from './call-feed.ts';
import { BackgroundLane } from '../../scheduling/background-lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { LoggedCall } from './logged-call.ts';

/** Which calls of a log; what is left out does not narrow. */
export interface LogFilter {
  status?: CallStatus[] | null | undefined;
  /** Receipt time in milliseconds; start inclusive, end exclusive. */
  from?: number | null | undefined;
  to?: number | null | undefined;
}

interface CallLogDeps {
  ingestCache: IngestCache;
  store: Pick<MeasurementStore, 'calls' | 'countCalls' | 'call'>;
  feed: CallFeed;
  shares: Pick<FairScheduler, 'spend' | 'turnsOf'>;
}

/** Counting so many takes a few milliseconds; of one token so many slices wait. */
const COUNTED_AT_ONCE = 20_000;

/** Reading the call log of a product (CONTRACT 4): needs scope READ for the product as a whole. */
export class CallLog {
  readonly #ingestCache: IngestCache;
  readonly #store: CallLogDeps['store'];
  readonly #feed: CallFeed;
  readonly #shares: Pick<FairScheduler, 'spend' | 'turnsOf'>;
  /** Of all callers one slice at a time, tenants in turns: the threads that count them also read charts. */
  readonly #counting = new BackgroundLane(LANES.callCounts);

  constructor({ ingestCache, store, feed, shares }: CallLogDeps) {
    this.#ingestCache = ingestCache;
    this.#store = store;
    this.#feed = feed;
    this.#shares = shares;
  }

  /** Newest first; `after` is the id of the last call seen. */
  async calls(
    access: Access,
    productId: string,
    filter: LogFilter,
    limit: number,
    after?: string | null,
  ): Promise<Page<LoggedCall>> {
    const product = await this.#readable(access, productId);
    const rows = await this.#store.calls({
      ...storeFilter(product, filter),
      ...(after == null ? {} : { after }),
      limit: limit + 1,
    });
    const { items, hasNextPage } = pageOf(rows, limit);
    return { items: items.map((row) => new LoggedCall(row)), hasNextPage };
  }

  /** How many calls all pages together hold; counted on the caller's account. */
  async count(access: Access, productId: string, filter: LogFilter): Promise<number> {
    const query = { ...storeFilter(await this.#readable(access, productId), filter), limit: COUNTED_AT_ONCE };
    let count = 0;
    for (let last: string | null = null; ;) {
      const after: { after?: string } = last === null ? {} : { after: last };
      const some: CallCount = await this.#counting.run(access, () => this.#counted(access, { ...query, ...after }));
      count += some.count;
      if (some.count < COUNTED_AT_ONCE) return count;
      last = some.last;
    }
  }

  async call(access: Access, productId: string, callId: string): Promise<LoggedCall> {
    const product = await this.#readable(access, productId);
    const row = isUuid(callId) ? await this.#store.call(product.key, callId.toLowerCase()) : null;
    if (row === null) throw notFound('call', callId);
    return new LoggedCall(row);
  }

  /** Each call from now on, after its commit; ends when returned, throws OVERLOADED for a reader that is too slow. */
  async live(access: Access, productId: string, choice: LiveCallChoice): Promise<LiveQueue<LoggedCall>> {
    const product = await this.#readable(access, productId);
    const turns = this.#shares.turnsOf(access, { patient: true });
    return this.#feed.subscribe(product, choice, { party: access, turns });
  }

  async #counted(access: Access, query: CallQuery): Promise<CallCount> {
    const from = performance.now();
    try {
      return await this.#store.countCalls({ ...query, oldestFirst: true });
    } finally {
      this.#shares.spend(access, performance.now() - from);
    }
  }

  #readable(access: Access, productId: string): Promise<ProductInfo> {
    return visibleProduct(this.#ingestCache, access, productId, 'READ');
  }
}

function storeFilter(product: ProductInfo, { status, from, to }: LogFilter): CallFilter {
  return {
    productKey: product.key,
    ...(status == null ? {} : { statuses: status }),
    ...(from == null ? {} : { from }),
    ...(to == null ? {} : { to }),
  };
}

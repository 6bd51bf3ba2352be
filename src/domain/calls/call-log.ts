import { notFound } from '../../errors.ts';
import type { CallFilter, CallStatus, MeasurementStore } from '../measurements/store.ts';
import type { LiveQueue } from '../bounded-stream.ts';
import { type Page, pageOf } from '../page.ts';
import { type IngestCache, isUuid, type ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { Access } from '../access/access.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { CallFeed, LiveCallChoice } from './call-feed.ts';
import { LoggedCall } from './logged-call.ts';

/** Which calls of a log; what is left out does not narrow. */
export interface LogFilter {
  status?: CallStatus[] | null | undefined;
  /** Receipt time in milliseconds; start inclusive, end exclusive. */
  from?: number | null | undefined;
  to?: number | null | undefined;
}

/** Reading the call log of a product (CONTRACT 4): needs scope READ for the product as a whole. */
export class CallLog {
  readonly #ingestCache: IngestCache;
  readonly #store: MeasurementStore;
  readonly #feed: CallFeed;

  constructor(ingestCache: IngestCache, store: MeasurementStore, feed: CallFeed) {
    this.#ingestCache = ingestCache;
    this.#store = store;
    this.#feed = feed;
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

  /** How many calls all pages together hold. */
  async count(access: Access, productId: string, filter: LogFilter): Promise<number> {
    return this.#store.countCalls(storeFilter(await this.#readable(access, productId), filter));
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
    return this.#feed.subscribe(product, choice);
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

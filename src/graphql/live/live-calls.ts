import { visibleProduct } from '../../domain/ingest-cache/visible-product.ts';
import type { IngestCache } from '../../domain/ingest-cache/ingest-cache.ts';
import type { Access } from '../../domain/access/access.ts';
import type { CallLog } from '../../domain/calls/call-log.ts';
import type { CallStatus } from '../../domain/ports/store.ts';
import { badInput } from '../../errors.ts';
import type { LoggedCall } from '../../domain/calls/logged-call.ts';
import { LiveStream } from './live-stream.ts';
import { visibleCall } from './visible-call.ts';

const MAX_LAST = 500;

/** `last`: number of the newest calls to begin with; `status`: only such calls. */
export interface LiveCallsQuery {
  productId: string;
  last?: number | null;
  status?: CallStatus[] | null;
}

/** The stream behind `webhookCalled`: the call log of one product from now on. */
export class LiveCalls {
  readonly #ingestCache: IngestCache;
  readonly #calls: CallLog;

  constructor(ingestCache: IngestCache, calls: CallLog) {
    this.#ingestCache = ingestCache;
    this.#calls = calls;
  }

  /** Opens the stream. BAD_USER_INPUT for an invalid `last`; NOT_FOUND or FORBIDDEN for the product. */
  async open(access: Access, { productId, last, status }: LiveCallsQuery): Promise<LiveStream<LoggedCall>> {
    const product = await visibleProduct(this.#ingestCache, access, productId, 'READ');
    if (last != null && (last < 0 || last > MAX_LAST))
      throw badInput(`"last" must be from 0 to ${MAX_LAST}, not ${last}.`);
    const calls = await this.#calls.live(access, product.id, { last: last ?? 0, statuses: status ?? null });
    return new LiveStream(calls, (call) => ({ of: null, value: () => visibleCall(call, access, product) }));
  }
}

import { visibleProduct } from '../../domain/ingest-cache/visible-product.ts';
import type { IngestCache } from '../../domain/ingest-cache/ingest-cache.ts';
import type { Access } from '../../domain/access/access.ts';
import type { CallLog } from '../../domain/calls/call-log.ts';
import type { LoggedCall } from '../../domain/calls/logged-call.ts';
import { liveStream } from './live-stream.ts';
import { visibleCall } from './visible-call.ts';

/** The stream behind `webhookCalled`: the call log of one product from now on. */
export class LiveCalls {
  readonly #ingestCache: IngestCache;
  readonly #calls: CallLog;

  constructor(ingestCache: IngestCache, calls: CallLog) {
    this.#ingestCache = ingestCache;
    this.#calls = calls;
  }

  async open(access: Access, productId: string): Promise<AsyncIterableIterator<LoggedCall>> {
    const product = await visibleProduct(this.#ingestCache, access, productId, 'READ');
    const calls = await this.#calls.live(access, product.id);
    return liveStream(calls, async (call) => visibleCall(call, access, product));
  }
}

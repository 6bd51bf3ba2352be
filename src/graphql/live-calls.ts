import { visibleProduct } from '../domain/decoders/visible-product.ts';
import type { Catalogue } from '../domain/products/catalogue.ts';
import type { Access } from '../domain/tokens/access.ts';
import type { CallLog } from '../domain/webhooks/call-log.ts';
import type { LoggedCall } from '../domain/webhooks/logged-call.ts';
import { LiveIterator } from './live-iterator.ts';
import { visibleCall } from './visible-call.ts';

/** The stream behind `webhookCalled`: the call log of one product from now on. */
export class LiveCalls {
  readonly #catalogue: Catalogue;
  readonly #calls: CallLog;

  constructor(catalogue: Catalogue, calls: CallLog) {
    this.#catalogue = catalogue;
    this.#calls = calls;
  }

  async open(access: Access, productId: string): Promise<AsyncIterableIterator<LoggedCall>> {
    const product = await visibleProduct(this.#catalogue, access, productId, 'READ');
    const calls = await this.#calls.live(access, product.id);
    return new LiveIterator(calls, async (call) => visibleCall(call, access, product.workspaceId));
  }
}

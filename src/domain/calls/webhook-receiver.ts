import { AppError } from '../../errors.ts';
import type { CallOutcome, CallRunner } from '../decoders/call-runner.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import type { NetworkEvent } from '../networks/network-event.ts';
import type { Recorder } from '../measurements/recorder.ts';
import type { IngestCache, DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallFeed } from './call-feed.ts';
import { callRow, httpStatusOf } from './call-row.ts';

interface WebhookReceiverDeps {
  ingestCache: IngestCache;
  runner: CallRunner;
  recorder: Recorder;
  feed: CallFeed;
  /** CALL_LOG_BODY_BYTES */
  bodyBytes: number;
  now: () => number;
}

/** What the sender of a call is told, after the commit (CONTRACT 4). */
export interface Answer {
  status: 200 | 202;
  /** JSON text, ASCII. */
  body: string;
}

const WEBHOOK_ID = /^[A-Za-z0-9_-]{16,64}$/;

/** Takes calls in (CONTRACT 4): decoded, logged and stored in one commit before the answer. */
export class WebhookReceiver {
  readonly #deps: WebhookReceiverDeps;

  constructor(deps: WebhookReceiverDeps) {
    this.#deps = deps;
  }

  /** The product whose URL this is; NOT_FOUND for an id that is none (or no longer). */
  async productOf(webhookId: string): Promise<ProductInfo> {
    const product = WEBHOOK_ID.test(webhookId) ? await this.#deps.ingestCache.productByWebhook(webhookId) : null;
    if (product === null)
      throw new AppError('NOT_FOUND', 'There is no webhook with this id; copy the URL from the product again.');
    return product;
  }

  /**
   * One call to a product. Rejects with OVERLOADED or UNAVAILABLE: nothing is logged or stored then, and the sender is
   * to try again. `native`: the message of a native network and its device. `receivedAt`: of a call that was kept.
   */
  async receive(
    product: ProductInfo,
    request: DecoderRequest,
    native?: { event: NetworkEvent; device: DeviceInfo },
    receivedAt: number = this.#deps.now(),
  ): Promise<Answer> {
    const { runner, recorder, feed, bodyBytes } = this.#deps;
    const source = product.decoder?.source ?? null;
    const outcome = await runner.run({
      product,
      source,
      request,
      receivedAt,
      counted: true,
      ...(native === undefined ? {} : { native }),
    });
    // A replay finds the values under the time by which the log knows the call.
    const call = callRow(product, request, outcome, outcome.receiptTime ?? receivedAt, bodyBytes);
    await recorder.commit({ batches: outcome.batches.map(({ batch }) => batch), call });
    feed.publish(product.id, call);
    return answerOf(outcome);
  }
}

function answerOf(outcome: CallOutcome): Answer {
  const { status, stored, rejected } = outcome;
  const error = status === 'DECODER_FAILED' || status === 'NO_DECODER' ? `,"error":"${status}"` : '';
  return { status: httpStatusOf(outcome), body: `{"stored":${stored},"rejected":${rejected}${error}}` };
}

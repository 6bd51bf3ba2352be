import { AppError } from '../../errors.ts';
import { type CallOutcome, type CallRunner, copyOutcome } from '../decoders/call-runner.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import { amountOf, changed, type DeviceBatch, type Recorder } from '../measurements/recorder.ts';
import type { IngestCache, DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { ProductAnswers } from '../ingest-cache/product-rows.ts';
import { type CallRow, type MeasurementStore, textLengthOf } from '../ports/store.ts';
import type { WriteShares } from '../../scheduling/write-shares.ts';
import { type Wasted, unexplainedPart } from '../../scheduling/invalid-input-throttle.ts';
import type { CallFeed } from '../calls/call-feed.ts';
import type { NamedDevices } from './named-devices.ts';
import { callRow, httpStatusOf, loggedRun } from '../calls/call-row.ts';
import { knownMeanwhile } from '../calls/call-saying.ts';
import type { LoggedFrames } from '../calls/logged-frames.ts';

interface WebhookReceiverDeps {
  ingestCache: IngestCache;
  runner: CallRunner;
  recorder: Recorder;
  store: Pick<MeasurementStore, 'call' | 'updateCalls'>;
  shares: WriteShares;
  frames: LoggedFrames;
  feed: CallFeed;
  /** Notes the names without a device in a logged call. */
  named: Pick<NamedDevices, 'note'>;
  /** CALL_LOG_BODY_BYTES */
  bodyBytes: number;
  now: () => number;
}

/** The answer to the sender of a call, after the commit (CONTRACT 4). */
export interface Answer {
  /** 200 or 202, or a status of the product's or decoder's answer: 200 to 299. */
  status: number;
  stored: number;
  rejected: number;
  body: string;
  /** null: without a body. Left out: JSON. */
  contentType?: string | null;
}

/** The receipt time of a call that was kept aside, and its id in the log. */
interface Kept {
  since: number;
  id: string;
}

/** Result of a run: the call for the log, the values to store, and the answer after that. */
interface Ran {
  call: CallRow;
  toStore: DeviceBatch[];
  answer: Answer;
  /** See `frameDigest`. */
  frame: string | null;
  unknownNames: string[];
}

/** The product of a call. `native`: a native network's call, from this device. */
export interface Recipient {
  product: ProductInfo;
  native?: { device: DeviceInfo } | undefined;
}

/** Maximum runs of a call while devices or fields keep being deleted. */
const MAX_RUNS = 3;
const WEBHOOK_ID = /^[A-Za-z0-9_-]{16,64}$/;

/** Receives calls (CONTRACT 4): decodes, logs and stores them before the answer, most often in one commit. */
export class WebhookReceiver {
  readonly #deps: WebhookReceiverDeps;

  constructor(deps: WebhookReceiverDeps) {
    this.#deps = deps;
  }

  /** True when the id is in memory, so that `productOf` costs nothing. */
  knows(webhookId: string): boolean {
    return this.#deps.ingestCache.cachedByWebhook(webhookId) !== null;
  }

  /** The product of a webhook; NOT_FOUND for an unknown or rotated id. */
  async productOf(webhookId: string): Promise<ProductInfo> {
    const product = WEBHOOK_ID.test(webhookId) ? await this.#deps.ingestCache.productByWebhook(webhookId) : null;
    if (product === null)
      throw new AppError('NOT_FOUND', 'There is no webhook with this id; copy the URL from the product again.');
    return product;
  }

  /**
   * Receives one call. `find` gives its recipient and rejects when the sender has no right to it (any more): it is
   * called before the decoder runs and again before the commit. When a device or field that it would write to is gone
   * by then, the call runs again with the present product. `kept`: for a call that was kept aside, which is logged once
   * even if repeated. Rejects with OVERLOADED or UNAVAILABLE: then nothing is logged, and the sender is to try again.
   */
  async receive(
    find: () => Promise<Recipient>,
    request: DecoderRequest,
    kept: Kept | null = null,
    receivedAt = kept?.since ?? this.#deps.now(),
  ): Promise<Answer> {
    for (let runs = 1; ; runs += 1) {
      const answer = await this.#attempt(find, request, receivedAt, kept);
      if (answer !== null) return answer;
      if (runs === MAX_RUNS)
        throw new AppError('OVERLOADED', 'The product keeps being changed while the call is received; try again.');
    }
  }

  /** Runs and stores the call; null: run it again, as a device or field to write to is gone. */
  async #attempt(
    find: () => Promise<Recipient>,
    request: DecoderRequest,
    receivedAt: number,
    kept: Kept | null,
  ): Promise<Answer | null> {
    const { ingestCache, recorder, store: log, shares, feed } = this.#deps;
    const seen = ingestCache.revision;
    const { product, native } = await find();
    const { ran, settle } = await this.#once(product, await this.#run({ product, native }, request, receivedAt, kept));
    const { call, toStore, answer } = ran;
    /** The logged call, if an interrupted adoption left one. */
    let earlier: CallRow | null = null;
    let isDone = false;
    try {
      const batches = toStore.map(({ batch }) => batch);
      // Count the texts of the call as well as its values.
      const amount = { ...amountOf(batches), characters: textLengthOf(call) };
      await shares.turn(product.workspaceId, amount);
      const recipient = await find();
      if (seen !== ingestCache.revision && !(await this.#allThere(recipient.product, toStore))) return null;
      const requireRight = async (): Promise<void> => {
        const now = await find();
        if (seen !== ingestCache.revision && !(await this.#allThere(now.product, toStore))) throw changed();
      };
      if (kept !== null) earlier = await log.call(product.key, call.id);
      const store = (): Promise<number> => recorder.commit({ batches, call }, { product, requireRight });
      await shares.storing(product.workspaceId, amount, store);
      isDone = true;
    } finally {
      settle?.(isDone);
    }
    // Keep the list of earlier values, so that the next replay removes those it does not give again.
    if (kept !== null)
      await log.updateCalls([earlier?.stored == null ? call : { ...call, stored: knownMeanwhile(earlier, call) }]);
    feed.publish(product.id, call);
    if (ran.unknownNames.length > 0) this.#deps.named.note(product, ran.unknownNames, call);
    return answer;
  }

  /**
   * Drops the values of a frame that another call has stored, or is about to. `settle`: call it with the outcome of
   * storing.
   */
  async #once(product: ProductInfo, ran: Ran): Promise<{ ran: Ran; settle?: (isStored: boolean) => void }> {
    const { frame, toStore, call } = ran;
    if (frame === null || toStore.length === 0) return { ran };
    const claim = await this.#deps.frames.claim(product, frame, { id: call.id, at: call.receivedAt });
    if (!('storedBy' in claim)) return { ran, settle: claim.settle };
    const outcome = copyOutcome(claim.storedBy);
    const { status } = outcome;
    const copy = { ...call, status, httpStatus: 200, decoderVersion: null, run: loggedRun(outcome), stored: '[]' };
    const answer = { ...countsOf(outcome), stored: 0, rejected: 0 };
    return { ran: { call: copy, toStore: [], answer, frame: null, unknownNames: [] } };
  }

  /**
   * Runs the decoder and keeps only what storing needs: hundreds of calls may be queued, and an outcome of ten thousand
   * entries takes ten megabytes.
   */
  async #run(
    { product, native }: Recipient,
    request: DecoderRequest,
    receivedAt: number,
    kept: Kept | null,
  ): Promise<Ran> {
    const { runner, bodyBytes } = this.#deps;
    const source = product.decoder?.source ?? null;
    const what = { product, source, request, receivedAt, counted: true, kept: kept !== null };
    const outcome = await runner.run(native === undefined ? what : { ...what, native });
    const answer = answerOf(
      outcome,
      native === undefined ? product.answers : { ...product.answers, webhook: null },
      request,
    );
    // Log the receipt time of the values, by which a replay finds them.
    const call = callRow(product, request, outcome, outcome.receiptTime ?? receivedAt, bodyBytes, kept?.id);
    const { batches: toStore, frame, unknownNames } = outcome;
    return { call: { ...call, httpStatus: answer.status }, toStore, answer, frame, unknownNames };
  }

  async #allThere(product: ProductInfo, batches: DeviceBatch[]): Promise<boolean> {
    for (const { device, batch } of batches) {
      if ((await this.#deps.ingestCache.device(device.id))?.key !== device.key) return false;
      if (!batch.fieldKeys.every((key) => product.fieldsByKey.has(key))) return false;
    }
    return true;
  }
}

/** Bytes that a platform may send beside each value. */
const OF_A_VALUE = 16_384;

/**
 * The part of a call that was wasted: all of it when nothing was stored. `beside`: bytes that are legitimate when
 * anything is stored, such as a picture, or the receptions of gateways.
 */
export function inVainOf({ stored, rejected: entries }: Answer, bytes: number, beside: number): Wasted {
  if (stored === 0) return { part: 1, entries };
  const part = Math.max(entries / (stored + entries), unexplainedPart(bytes, beside + stored * OF_A_VALUE));
  return { part, entries };
}

/** The answer of a kept call, as all are that reach this: failures to keep one have thrown before. */
function answerOf(outcome: CallOutcome, { always200, webhook }: ProductAnswers, request: DecoderRequest): Answer {
  const { stored, rejected } = outcome;
  const { status, body, ...rest } = outcome.run?.answer ?? webhook ?? countsOf(outcome);
  const wants200 = asks200(request) || (always200 && status === 202);
  return { ...rest, status: wants200 ? 200 : status, stored, rejected, body };
}

function countsOf(outcome: CallOutcome): Pick<Answer, 'status' | 'body'> {
  const { status, stored, rejected, ahead } = outcome;
  const told = ahead === null ? '' : `,"ahead":${JSON.stringify(ahead)}`;
  const error = status === 'DECODER_FAILED' || status === 'NO_DECODER' ? `,"error":"${status}"` : '';
  return { status: httpStatusOf(outcome), body: `{"stored":${stored},"rejected":${rejected}${error}${told}}` };
}

/** True for `?answer=200`, of senders that accept no other success (CONTRACT 3). */
export function asks200({ GET }: Pick<DecoderRequest, 'GET'>): boolean {
  return GET['answer']?.includes('200') === true;
}

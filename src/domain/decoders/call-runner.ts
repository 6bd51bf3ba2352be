import { credentialsIn, secretMask, type TextMask } from './call-secrets.ts';
import { badInput } from '../../errors.ts';
import { networkOfPath, readNetworkCall, wrongDoor } from '../networks/network-call.ts';
import type { Network, NetworkEvent } from '../networks/network-event.ts';
import type { DeviceBatch } from '../measurements/recorder.ts';
import type { CallStatus } from '../ports/store.ts';
import type { History } from '../history/history.ts';
import type { IngestCache, DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { DecoderEngine, DecoderEntryPoint, DecoderFailure, DecoderJob, DecoderResult } from './decoder-engine.ts';
import { messageToRun } from './network-message.ts';
import { type RawEntry, readEntries, readUplinkEntries } from './decoder-output.ts';
import { LookedUpValues } from './looked-up-values.ts';
import { type DecoderRequest, isForm, webhookInput } from './decoder-request.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { chargedTurns } from '../../scheduling/charged-turns.ts';
import { PenaltyBucket } from '../../scheduling/penalty-bucket.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { ActiveTenants } from '../../scheduling/active-tenants.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import type { Ahead } from '../times/ahead.ts';
import type { EntryJudge, Judged } from './entry-judge.ts';
import type { FinishedRun } from './finished-run.ts';
import { must } from '../../must.ts';

/** A call and the way to run it. */
export interface CallToRun {
  product: ProductInfo;
  /** The decoder's source; null: the product has none, or none is wanted. */
  source: string | null;
  request: DecoderRequest;
  receivedAt: number;
  /** True for a real call: unknown identifiers count for `suggestedFields`. */
  counted: boolean;
  /** True for a real call that was kept aside; its `receivedAt` is unique among its devices' calls. */
  kept?: boolean;
  /**
   * The device of a native network's message, if known already. `event`: of a typed message; otherwise it is read from
   * the request. `variables`: in place of the device's configuration.
   */
  native?: { device: DeviceInfo | null; event?: NetworkEvent; variables?: Record<string, string> | undefined };
}

/** Outcome of one call before anything is stored: its status, its run and the batches to commit. */
export interface CallOutcome {
  status: CallStatus;
  /** The run; null: there was nothing to run (no decoder, or a network's event that is no uplink). */
  run: FinishedRun | null;
  /** Reason that nothing was run; null: something was. */
  reason: string | null;
  /** The call that stored the same frame of a network; null: none. */
  copyOf: string | null;
  /** The entries as the decoder returned them. */
  raw: RawEntry[];
  batches: DeviceBatch[];
  stored: number;
  rejected: number;
  /** The receipt time in ms UTC that the call counts under; null: the actual one, as no entry was judged. */
  receiptTime: number | null;
  /** Names of unknown devices in entries: see `Judged`. */
  unknownNames: string[];
  /** The digest that copies of a network's frame share (`frameDigest`); null: no frame. */
  frame: string | null;
  /** The times that lie ahead of the server's clock; null: none. */
  ahead: Ahead | null;
}

const NO_DECODER = 'The product has no decoder: save one, then replay the call.';
/** Characters of a form from which reading it is charged: a form of a megabyte takes half a second. */
const LONG_FORM = 4_096;
/** Estimated time of one piece of a form. */
const PIECE_MS = LANES.forms.maxTurnMs;

interface CallRunnerDeps {
  engine: DecoderEngine;
  ingestCache: IngestCache;
  history: History;
  judge: EntryJudge;
  senders: ActiveTenants;
}

/**
 * Runs a call up to the values it would store: the one way for live calls, the test tool, examples and replay. Stores
 * nothing. The path tells a native network's call from a product's webhook. Rejects with the engine's OVERLOADED or
 * UNAVAILABLE only, and with INVALID_JSON or INVALID_BODY for a body that is no message of its network.
 */
export class CallRunner {
  readonly #deps: CallRunnerDeps;
  readonly #lookedUp: LookedUpValues;
  readonly #forms = new EventLoopQueue(LANES.forms);
  /** A queue apart from forms, which would otherwise wait for the database. */
  readonly #serials = new EventLoopQueue(LANES.serialNumbers);
  readonly #penalties: PenaltyBucket;
  /** Reads the serial numbers of one product per workspace at a time: they take up to 16 MiB. */
  readonly #reading = new Lane(LANES.workspaceSerials);

  constructor(deps: CallRunnerDeps) {
    this.#deps = deps;
    this.#lookedUp = new LookedUpValues(deps);
    this.#penalties = new PenaltyBucket(deps.senders, LANES.longForms);
  }

  async run(call: CallToRun): Promise<CallOutcome> {
    const network = networkOfPath(call.request.path);
    if (network === null) return this.#runWebhook(call);
    if (call.native !== undefined) return this.#runNative(call, network, call.native.device);
    const { deviceIdentifier } = eventOf(call, network);
    return this.#runNative(call, network, await this.#senderOf(call.product, deviceIdentifier));
  }

  async #runWebhook(call: CallToRun): Promise<CallOutcome> {
    const { product, source, request, receivedAt, counted, kept = false } = call;
    if (source === null) return notRun('NO_DECODER', NO_DECODER);
    const input = await this.#inputOf(call);
    const result = await this.#execute(call, source, 'webhook', input, null);
    if (result.output === null) return failedOutcome({ ...result, error: atWrongDoor(result.error, request) });
    await afterLong(result.output);
    const { entries: raw, error, answer } = readEntries(result, product.fields);
    if (error !== null) return failedOutcome({ ...result, error: atWrongDoor(error, request) });
    const options = { receivedAt, networkTime: null, counted, kept, mask: maskOf(product, request), sender: null };
    return outcomeOf(result, raw, await this.#deps.judge.judge(product, raw, options), answer);
  }

  /**
   * Reads long forms in pieces that are charged to the workspace: a few connections could otherwise block the event
   * loop.
   */
  #inputOf(call: CallToRun): Promise<string> {
    const { request } = call;
    const [source, tenant] = [sourceOf(call), call.product.workspaceId];
    const isLong = request.body.length > LONG_FORM && isForm(request);
    const turns = isLong ? chargedTurns(this.#penalties, this.#forms, { tenant, source, ms: PIECE_MS }) : this.#forms;
    return runAs({ tokenId: source, tenant }, () => webhookInput(request, turns));
  }

  async #runNative(call: CallToRun, network: Network, device: DeviceInfo | null): Promise<CallOutcome> {
    const { product, source, receivedAt, counted, kept = false } = call;
    const message = messageToRun(eventOf(call, network), source, receivedAt, device, call.native?.variables);
    const { identifier, time, entryPoint, input, decoded, otherwise, frame } = message;
    let result = decoded;
    let isDecoders = false;
    if (source !== null && input !== '') {
      const ran = await this.#execute(call, source, entryPoint, input, device);
      // A source with `decodeEvent` alone leaves uplinks to the network's decoding, and one without it all other
      // events.
      const isLeft = ran.error?.kind === 'NO_DECODER_FUNCTION' && (entryPoint === 'event' || decoded !== null);
      isDecoders = !isLeft;
      if (isDecoders) result = ran;
    }
    if (result === null) return notRun(otherwise.status, otherwise.reason);
    if (result.output === null) return failedOutcome(result);
    await afterLong(result.output);
    const fromUplink = entryPoint === 'event' || (source?.includes('decodeUplink') ?? false);
    const { entries: raw, error } = readUplinkEntries(result, product.fields, fromUplink);
    if (error !== null) return failedOutcome({ ...result, error });
    // A payload that was only passed through is not decoded.
    if (source === null && raw.length > 0 && raw.every(({ refusal }) => refusal?.code === 'INVALID_VALUE'))
      return notRun('NO_DECODER', must(must(raw[0]).refusal).message);
    const sender = { device, identifier };
    const options = { receivedAt, networkTime: time, counted, kept, mask: maskOf(product, call.request), sender };
    const { judge } = this.#deps;
    if (entryPoint !== 'event' || isDecoders)
      return { ...outcomeOf(result, raw, await judge.judge(product, raw, options)), frame };
    // Drop values without a field, which are suggested: such an event is no mistake of the sender's.
    const [known, unknown] = [raw.filter((one) => isKnown(product, one)), raw.filter((one) => !isKnown(product, one))];
    if (unknown.length > 0) await judge.judge(product, unknown, options);
    if (known.length === 0) return notRun(otherwise.status, `${otherwise.reason} ${withoutFields(unknown)}`);
    return outcomeOf(result, known, await judge.judge(product, known, options));
  }

  #execute(
    call: CallToRun,
    source: string,
    entryPoint: DecoderEntryPoint,
    input: string,
    sender: DeviceInfo | null,
  ): Promise<DecoderResult> {
    const { engine } = this.#deps;
    const { product } = call;
    const waitsAs = sourceOf(call);
    return engine.run({
      workspaceId: product.workspaceId,
      productId: product.id,
      source,
      entryPoint,
      input,
      serials: this.#serialsOf(product),
      lookUp: (names) => this.#lookedUp.of(product, names, waitsAs),
      senderId: sender?.id ?? null,
    });
  }

  /**
   * Loads serial numbers at the workspace's expense: each change of a device makes all of the product be read again.
   */
  #serialsOf(product: ProductInfo): DecoderJob['serials'] {
    const { version, load } = this.#deps.ingestCache.serials(product);
    const tenant = product.workspaceId;
    const piece = { tenant, source: `${product.id} serials`, ms: PIECE_MS };
    return {
      version,
      load: (maxBytes) =>
        this.#reading.use({ tenant, tokenId: tenant }, () =>
          load(maxBytes, chargedTurns(this.#penalties, this.#serials, piece)),
        ),
    };
  }

  /** The device of the product that sent the message. */
  async #senderOf(product: ProductInfo, deviceIdentifier: string | null): Promise<DeviceInfo | null> {
    if (deviceIdentifier === null) return null;
    const devices = await this.#deps.ingestCache.devicesNamed([product.workspaceId], deviceIdentifier);
    const own = devices.filter((device) => device.productId === product.id);
    return own.length === 1 ? must(own[0]) : null;
  }
}

function isKnown(product: ProductInfo, { entry }: RawEntry): boolean {
  return product.fields.has((entry as { field: string }).field);
}

function withoutFields(raw: RawEntry[]): string {
  const names = raw.map(({ entry }) => (entry as { field: string }).field);
  return `The product has no field ${names.join(' or ')}.`;
}

/** The queue of a call: replays and trials wait apart from calls of the product's webhook. */
function sourceOf({ product: { id }, counted }: CallToRun): string {
  return counted ? id : `${id} tried`;
}

function eventOf({ native, request }: CallToRun, network: Network): NetworkEvent {
  return native?.event ?? readNetworkCall(network, request);
}

/** Adds a hint to a failure whose cause may be that the message is a network's. */
function atWrongDoor(error: DecoderFailure | null, { body }: DecoderRequest): DecoderFailure | null {
  return error === null ? null : { ...error, message: error.message + wrongDoor(body) };
}

/** The outcome of a call that is not run; `reason`: a sentence for the log. */
function notRun(status: CallStatus, reason: string): CallOutcome {
  return {
    status,
    run: null,
    reason,
    copyOf: null,
    raw: [],
    batches: [],
    stored: 0,
    rejected: 0,
    receiptTime: null,
    frame: null,
    ahead: null,
    unknownNames: [],
  };
}

/** The outcome of a call with a frame that another call has stored. */
export function copyOutcome(storedBy: string): CallOutcome {
  const reason = `Duplicate: the call ${storedBy} has stored this frame (same device, frame counter and payload within ten minutes).`;
  return { ...notRun('NOTHING_STORED', reason), copyOf: storedBy };
}

function failedOutcome(result: Omit<FinishedRun, 'entries' | 'answer'>): CallOutcome {
  // A result with neither output nor error would be the engine's bug.
  const without = { kind: 'BAD_OUTPUT' as const, message: 'The run gave no output.', line: null, column: null };
  const { console, durationMs, output } = result;
  const run = { output, console, error: result.error ?? without, durationMs, entries: [], answer: null };
  return { ...notRun('DECODER_FAILED', ''), run, reason: null };
}

function outcomeOf(
  { output, console, durationMs }: DecoderResult,
  raw: RawEntry[],
  { entries, batches, stored, rejected, receiptTime, ahead, unknownNames }: Judged,
  answer: WebhookAnswer | null = null,
): CallOutcome {
  const status = stored === 0 ? 'NOTHING_STORED' : rejected === 0 ? 'STORED' : 'PARTLY_STORED';
  const run = { output, console, error: null, durationMs, entries, answer };
  const told = { stored, rejected, receiptTime, ahead, unknownNames };
  return { status, run, reason: null, copyOf: null, raw, batches, ...told, frame: null };
}

const CUT_BODY =
  "The log kept only the beginning of this call's body (CALL_LOG_BODY_BYTES), so it cannot be run again.";

/** Rejects a call whose body the log has cut: running it would decode something that was never sent. */
export function refuseCutBody(bodyTruncated: boolean): void {
  if (bodyTruncated) throw badInput(CUT_BODY);
}

/** Characters of an output from which to yield: reading it takes as long as parsing it did. */
const LONG_OUTPUT = 131_072;

/** Yields to other work after a long output was handled. */
export async function afterLong(output: string | null): Promise<void> {
  if (output !== null && output.length > LONG_OUTPUT) await yieldToEventLoop();
}

/** The outcome of a call with a cut body, among many. */
export function cutBodyOutcome(): CallOutcome {
  const error = { kind: 'BODY_TRUNCATED' as const, message: CUT_BODY, line: null, column: null };
  return failedOutcome({ output: null, console: [], error, durationMs: 0 });
}

/** The mask of a call's secrets, made when first needed: most calls suggest nothing. */
function maskOf({ webhookId }: ProductInfo, { headers }: DecoderRequest): () => TextMask | null {
  let mask: TextMask | null | undefined;
  return () => (mask === undefined ? (mask = secretMask([webhookId, ...credentialsIn(headers)])) : mask);
}

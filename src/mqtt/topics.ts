import type { Logger } from 'pino';
import { AppError, asAppError, type ErrorCode, unauthenticated } from '../errors.ts';
import type { Access } from '../domain/access/access.ts';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { requestOfMessage } from '../domain/decoders/decoder-request.ts';
import { requestBodyText } from '../domain/decoders/request-body.ts';
import type { DeviceClients } from '../domain/devices/device-clients.ts';
import type { DeviceFinder } from '../domain/ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../domain/ingest-cache/ingest-cache.ts';
import { type Rejection, reject } from '../domain/measurements/entry.ts';
import { bytesOfTexts, inVainOf, mostEntriesIn, readEntries } from '../domain/measurements/record-body.ts';
import type { Recorder, RecordOutcome } from '../domain/measurements/recorder.ts';
import { inVainOf as callInVain, type Recipient, type WebhookReceiver } from '../domain/receiving/webhook-receiver.ts';
import { runAs } from '../scheduling/current-caller.ts';
import type { Caller } from '../scheduling/caller.ts';
import type { InvalidInputThrottle } from '../scheduling/invalid-input-throttle.ts';
import { yieldForLarge } from '../scheduling/yield-for-large.ts';
import { MessageOrder, type Place } from './message-order.ts';
import { deviceOfOutcome, meaningOf, type OtherShapes, outcomeTopic } from './topic-meaning.ts';
import type { TopicMessage, TopicOutcome, TopicReceiver } from './topic-message.ts';
import { outcomeOfCall, outcomeOfEntries, outcomeOfError } from './topic-outcome.ts';
import {
  entriesOfField,
  payloadText,
  readGatewayTelemetry,
  readTelemetry,
  type TelemetryReader,
} from './topic-payload.ts';

interface TopicsDeps {
  authenticator: Pick<Authenticator, 'present' | 'revision'>;
  devices: DeviceFinder;
  recorder: Recorder;
  receiver: WebhookReceiver;
  deviceClients: DeviceClients;
  refused: InvalidInputThrottle;
  /** Turns of the event loop. */
  turns: { run<T>(caller: Caller, work: () => Promise<T>): Promise<T> };
  shapes: OtherShapes;
  /** MAX_BODY_BYTES */
  maxBytes: number;
  log: Logger;
}

/** A device that a token may record for, and the revisions of what that was read from. */
interface Granted {
  device: DeviceInfo;
  tokens: number;
  found: number;
  /** Whether the token ends by itself, which changes no revision. */
  expires: boolean;
}

/** Finds the device that a message is for, among those that the token may record for. */
type Find = (access: Access) => Promise<DeviceInfo>;

/** A message, and whose it is. */
interface Received {
  access: Access;
  message: TopicMessage;
  place: Place;
}

/** A device, and the entries that a message has for it. */
interface ToRecord {
  find: Find;
  granted: Granted;
  read: (device: DeviceInfo) => unknown[];
  door: 'record' | 'telemetry';
}

interface Recorded {
  outcome: RecordOutcome;
  /** See `bytesOfTexts`. */
  ofTexts: number;
}

/** Bytes of a call that may surround its values, as at webhooks. */
const BESIDE_VALUES = 262_144;
/** Errors of one device of a gateway, which lose nothing of the others. */
const OF_ONE_DEVICE: Partial<Record<ErrorCode, Rejection['code']>> = {
  NOT_FOUND: 'UNKNOWN_DEVICE',
  FORBIDDEN: 'UNKNOWN_DEVICE',
  AMBIGUOUS_DEVICE: 'UNKNOWN_DEVICE',
  TOO_MANY_ENTRIES: 'INVALID_ENTRY',
};
/** Bytes of a payload that are read in the same turn of the event loop. */
const SMALL = 16_384;

/** Receives the messages of topics (CONTRACT 14): recorder and webhook receiver behind them are those of the other doors. */
export class Topics implements TopicReceiver {
  readonly #deps: TopicsDeps;
  readonly #order = new MessageOrder();
  /** Messages of gateways that were stored in part: outcomes by device, which are not stored again. */
  readonly #partly = new WeakMap<TopicMessage, Map<string, Recorded>>();

  constructor(deps: TopicsDeps) {
    this.#deps = deps;
  }

  async receive(access: Access, message: TopicMessage): Promise<TopicOutcome> {
    const place = this.#order.next(message.client ?? access);
    try {
      return await this.#receive({ access, message, place });
    } catch (error) {
      return outcomeOfError(error, this.#deps.log);
    } finally {
      place.begun();
    }
  }

  /** Whether messages of the topic mean something of their own. */
  hasMeaning(topic: string): boolean {
    return meaningOf(topic, this.#deps.shapes) !== null;
  }

  outcomeTopicOf(topic: string): string | null {
    const meaning = meaningOf(topic, this.#deps.shapes);
    return meaning !== null && 'device' in meaning ? outcomeTopic(meaning.device) : null;
  }

  async maySubscribe(access: Access, filter: string): Promise<boolean> {
    const device = deviceOfOutcome(filter);
    if (device === null) return false;
    try {
      await this.#named(device)(access);
      return true;
    } catch (error) {
      const code = asAppError(error)?.code;
      if (code === 'FORBIDDEN' || code === 'NOT_FOUND' || code === 'AMBIGUOUS_DEVICE') return false;
      throw error;
    }
  }

  async #receive(received: Received): Promise<TopicOutcome> {
    const { access, message } = received;
    this.#requireSize(message);
    const meaning = meaningOf(message.topic, this.#deps.shapes);
    switch (meaning?.kind) {
      case 'record':
        return this.#ofDevice(received, meaning.device, (text) => readEntries(text));
      case 'field':
        return this.#ofDevice(received, meaning.device, (text) => entriesOfField(text, meaning.field));
      case 'webhook':
        return this.#call(access, message, meaning.id, message.topic);
      case 'telemetry':
        return this.#telemetry(received);
      case 'gateway':
        return this.#gateway(received);
      case undefined:
        throw new AppError('FORBIDDEN', 'No values are taken on this topic; docs/mqtt.md lists those that are.');
    }
  }

  /** Calls a product's webhook with a message: `path` is what its decoder sees, without a slash in front. */
  async call(access: Access, message: TopicMessage, webhookId: string, path: string): Promise<TopicOutcome> {
    try {
      this.#requireSize(message);
      return await this.#call(access, message, webhookId, path);
    } catch (error) {
      return outcomeOfError(error, this.#deps.log);
    }
  }

  /** Records for one device: without waiting for what is in memory. */
  async #ofDevice(received: Received, name: string, read: (text: string) => unknown[]): Promise<TopicOutcome> {
    const { access, message } = received;
    const find = this.#named(name);
    const known = this.#deps.devices.cached(access, name);
    const granted = known === null || expires(access) ? await this.#grant(access, find) : this.#stamped(known);
    const ofText = (): unknown[] => read(payloadText(message.payload));
    return outcomeOfEntries(await this.#record(received, { find, granted, read: ofText, door: 'record' }));
  }

  async #telemetry(received: Received): Promise<TopicOutcome> {
    const { access, message } = received;
    const find: Find = (present) => this.#named(ownDevice(present))(present);
    const granted = await this.#grant(access, find);
    const read = (device: DeviceInfo): unknown[] => readTelemetry(payloadText(message.payload))(device.product.fields);
    return outcomeOfEntries(await this.#record(received, { find, granted, read, door: 'telemetry' }));
  }

  /** Records for each device that the gateway names; what is refused of one of them loses nothing of the others. */
  async #gateway(received: Received): Promise<TopicOutcome> {
    const { access, message } = received;
    const { payload } = message;
    await yieldForLarge(payload.length, access);
    const done = this.#partly.get(message) ?? new Map<string, Recorded>();
    this.#partly.set(message, done);
    const recordAll = async (): Promise<Recorded> => {
      const devices = readGatewayTelemetry(payloadText(payload));
      const recording = devices.map(async ([name, read]) => {
        const recorded = done.get(name) ?? (await this.#ofGateway(received, name, read));
        done.set(name, recorded);
        return recorded;
      });
      // All of them, as others go on when one fails.
      await Promise.allSettled(recording);
      return together(await Promise.all(recording));
    };
    const { tenant, tokenId } = access;
    const { outcome } = await this.#throttled({ tenant, tokenId }, message, recordAll);
    return outcomeOfEntries(outcome);
  }

  async #ofGateway(received: Received, name: string, read: TelemetryReader): Promise<Recorded> {
    const find = this.#named(name);
    try {
      const granted = await this.#grant(received.access, find);
      const ofDevice = (device: DeviceInfo): unknown[] => read(device.product.fields);
      return await this.#recordInTurn(received, { find, granted, read: ofDevice, door: 'telemetry' });
    } catch (error) {
      const refusal = asAppError(error);
      const code = OF_ONE_DEVICE[refusal?.code ?? 'UNAVAILABLE'];
      if (refusal === null || code === undefined) throw error;
      return { outcome: { stored: 0, rejected: [reject(0, null, code, refusal.message)] }, ofTexts: 0 };
    }
  }

  async #record(received: Received, what: ToRecord): Promise<RecordOutcome> {
    const { access, message, place } = received;
    const { length } = message.payload;
    const caller = { tenant: what.granted.device.workspaceId, tokenId: access.tokenId };
    if (length > SMALL) await yieldForLarge(length, caller);
    const { outcome } = await this.#throttled(caller, message, () => this.#recordInTurn(received, what, place.begun));
    return outcome;
  }

  #throttled(
    { tenant, tokenId }: Caller,
    { payload: { length: bytes }, isAbandoned }: TopicMessage,
    work: () => Promise<Recorded>,
  ): Promise<Recorded> {
    const sent = { tenant, source: tokenId, bytes, maxEntries: mostEntriesIn(bytes), isAbandoned };
    return this.#deps.refused.run(sent, work, ({ outcome, ofTexts }) => inVainOf(outcome, bytes, ofTexts));
  }

  /** `begun`: called when the entries are with the recorder. */
  #recordInTurn(
    { access, message, place }: Received,
    { find, granted, read, door }: ToRecord,
    begun = (): void => {},
  ): Promise<Recorded> {
    const { recorder, turns, deviceClients } = this.#deps;
    const { topic, payload, receivedAt, client } = message;
    const recheck = async (): Promise<DeviceInfo> => (await this.#grant(access, find)).device;
    const record = async (): Promise<Recorded> => {
      const before = place.turn();
      if (before !== null) await before;
      const device = this.#stands(granted) ? granted.device : await recheck();
      if (client !== undefined) deviceClients.note(device.id, client, topic, receivedAt);
      const entries = read(device);
      const ofTexts = bytesOfTexts(entries, payload.length);
      const recording = recorder.record(device, entries, { limited: true, receivedAt, recheck, door });
      begun();
      return { outcome: await recording, ofTexts };
    };
    return turns.run({ tenant: granted.device.workspaceId, tokenId: access.tokenId }, record);
  }

  async #call(access: Access, message: TopicMessage, webhookId: string, path: string): Promise<TopicOutcome> {
    const { receiver, refused } = this.#deps;
    const { payload, receivedAt, isAbandoned } = message;
    const find = async (): Promise<Recipient> => {
      await this.#present(access);
      return { product: await receiver.productOf(webhookId) };
    };
    const { product } = await (receiver.knows(webhookId) ? find() : runAs(access, find));
    const caller = { tenant: product.workspaceId, tokenId: product.id };
    await yieldForLarge(payload.length, caller);
    const request = requestOfMessage(path, requestBodyText(payload, undefined));
    const sent = { tenant: caller.tenant, source: caller.tokenId, bytes: payload.length, isAbandoned };
    const answer = await runAs(caller, () =>
      refused.run(
        sent,
        () => receiver.receive(find, request, null, receivedAt),
        (given) => callInVain(given, payload.length, BESIDE_VALUES),
      ),
    );
    return outcomeOfCall(answer);
  }

  #requireSize({ payload }: TopicMessage): void {
    const { maxBytes: limit } = this.#deps;
    if (payload.length > limit)
      throw new AppError('BODY_TOO_LARGE', `The payload is over the limit of ${limit} bytes; send it in parts.`, {
        details: { limit },
      });
  }

  #named(name: string): Find {
    const { devices } = this.#deps;
    return (access) => runAs(access, () => devices.forRecording(access, name));
  }

  /** Looks up token and device anew. */
  async #grant(access: Access, find: Find): Promise<Granted> {
    const { authenticator, devices } = this.#deps;
    const [tokens, found] = [authenticator.revision, devices.revision];
    const present = await this.#present(access);
    return { device: await find(present), tokens, found, expires: expires(present) };
  }

  /** A device that was just found in memory, for a token that the door has just looked up. */
  #stamped(device: DeviceInfo): Granted {
    const { authenticator, devices } = this.#deps;
    return { device, tokens: authenticator.revision, found: devices.revision, expires: false };
  }

  /** Two numbers compared instead of three look-ups for every message. */
  #stands({ tokens, found, expires: isShort }: Granted): boolean {
    const { authenticator, devices } = this.#deps;
    return !isShort && tokens === authenticator.revision && found === devices.revision;
  }

  async #present(access: Access): Promise<Access> {
    const present = await this.#deps.authenticator.present(access);
    if (present === null) throw unauthenticated();
    return present;
  }
}

/** The device that `me` stands for. */
function ownDevice({ deviceIds, productIds }: Access): string {
  const [own, ...others] = deviceIds ?? [];
  if (own !== undefined && others.length === 0 && productIds === null) return own;
  throw new AppError(
    'FORBIDDEN',
    'v1/devices/me is the device of the token, and this one is not limited to exactly one device: limit it, or publish to v1/<device>/record or v1/gateway/telemetry.',
  );
}

/** One outcome of all; entries are counted over the devices, in order. */
function together(all: readonly Recorded[]): Recorded {
  const rejected: Rejection[] = [];
  let [stored, before, ofTexts] = [0, 0, 0];
  for (const { outcome, ofTexts: ofDevice } of all) {
    for (const rejection of outcome.rejected) rejected.push({ ...rejection, index: before + rejection.index });
    before += outcome.stored + outcome.rejected.length;
    stored += outcome.stored;
    ofTexts += ofDevice;
  }
  return { outcome: { stored, rejected }, ofTexts };
}

function expires({ expiresAt }: Access): boolean {
  return expiresAt !== null;
}

import { AppError } from '../../errors.ts';
import { mostNamesIn, parametersIn } from '../text/form-text.ts';
import { excessOf } from '../text/json-text.ts';
import { networkTime } from '../times/network-time.ts';
import { readActilityMessage } from './actility.ts';
import { readChirpstackEvent } from './chirpstack.ts';
import { readHeliumMessage } from './helium.ts';
import { BOUNDS, isObject, isoTime, type JsonObject } from './json-reading.ts';
import { readKerlinkMessage } from './kerlink.ts';
import { readLoriotMessage } from './loriot.ts';
import { bareMessage, networkOfShape, type Shape, SHAPE_NAMES, shapeOf } from './message-shape.ts';
import { readNetmoreMessage } from './netmore.ts';
import { type Network, type NetworkEvent, NETWORKS, type OtherEvent } from './network-event.ts';
import { readParticleEvent } from './particle.ts';
import { readTtiMessage } from './tti.ts';

/** Path of a network; ignores anything behind it, as The Things Stack adds a path for each kind of message. */
const PATH = /^\/integrations\/(?:lorawan\/([^/?]+)|(particle))(?:\/.*)?$/i;

/** The parts of a request that networks' readers use: the text of the body and the query's parameters. */
interface NetworkRequest {
  body: string;
  GET: Record<string, string[]>;
}

/** Path of a network's calls, in URLs and in the log. */
export function pathOfNetwork(network: Network): string {
  return network === 'particle' ? '/integrations/particle/' : `/integrations/lorawan/${network}/`;
}

/** The network whose URL this path is; null for any other path, such as a product's webhook. */
export function networkOfPath(path: string): Network | null {
  const match = PATH.exec(path);
  const name = (match?.[1] ?? match?.[2])?.toLowerCase();
  return NETWORKS.find((network) => network === name) ?? null;
}

/** Hint for a network's message that arrived at a product's webhook; '': it is none. */
export function wrongDoor(body: string): string {
  const shape = shapeOfBody(body);
  if (shape === null) return '';
  const url = pathOfNetwork(networkOfShape(shape));
  return ` This is a message of ${SHAPE_NAMES[shape]}: point it at ${url}, where the decoder gets its payload.`;
}

/** Maximum characters that are parsed, for every failing call. */
const MAX_READ = 16_384;
/** Characters of a longer body whose names are checked. */
const HEAD = 4_096;

/** The network whose URL takes this text, by its keys; null: no known network's message. */
export function networkOfBody(body: string): Network | null {
  const shape = shapeOfBody(body);
  return shape === null ? null : networkOfShape(shape);
}

function shapeOfBody(body: string): Shape | null {
  if (!/^\s*(?:\{|\[\s*\{)/.test(body)) return null;
  if (body.length > MAX_READ) return shapeOf(namesIn(body.slice(0, HEAD)));
  try {
    const message = soleOf(JSON.parse(body));
    return isObject(message) ? shapeOf(message) : null;
  } catch {
    return null;
  }
}

/** The only entry of a list: some networks send lists of one message each. */
function soleOf(message: unknown): unknown {
  return Array.isArray(message) && message.length === 1 ? message[0] : message;
}

/** An object with the names found in the text, at whatever level. */
function namesIn(text: string): JsonObject {
  return Object.fromEntries(Array.from(text.matchAll(/"(\w+)"\s*:/g), ([, name]) => [name, {}]));
}

/**
 * Reads a network's call. A LoRaWAN network's message is recognized by its keys, at whichever LoRaWAN URL it arrives.
 * INVALID_JSON or INVALID_BODY when the body is no message of a network, or one that names no device.
 */
export function readNetworkCall(network: Network, request: NetworkRequest): NetworkEvent {
  const { body } = request;
  const sent = network === 'particle' && FORM.test(body) ? formIn(body) : soleOf(jsonIn(network, body));
  if (!isObject(sent)) throw new AppError('INVALID_BODY', oneObject(network, sent));
  // Particle's webhooks may have any keys beside their own.
  const shown = network === 'particle' && 'coreid' in sent ? network : (shapeOf(sent) ?? network);
  if ((shown === 'particle') !== (network === 'particle'))
    throw new AppError(
      'INVALID_BODY',
      `This is a message of ${SHAPE_NAMES[shown]}: send it to ${pathOfNetwork(networkOfShape(shown))}.`,
    );
  switch (shown) {
    case 'tti':
      return readTtiMessage(bareMessage(sent));
    case 'chirpstack':
      return readChirpstackEvent(sent, request.GET['event']?.[0]);
    case 'actility':
      return readActilityMessage(sent);
    case 'loriot':
      return readLoriotMessage(sent);
    case 'netmore':
      return readNetmoreMessage(sent);
    case 'kerlink':
      return readKerlinkMessage(sent);
    case 'helium':
      return readHeliumMessage(sent);
    case 'particle':
      return readParticleEvent(sent);
  }
}

function oneObject(network: Network, sent: unknown): string {
  const is = Array.isArray(sent) ? `; it is a list of ${sent.length}: send each message by itself` : '';
  return `The body must be one JSON object, as ${SHAPE_NAMES[network]} sends it${is}.`;
}

/** Particle's older webhooks send the same names as a form. */
const FORM = /^[\w-]+=/;
/** Maximum names of a form, equal to that of entries. */
const MAX_NAMES = 10_000;

function formIn(body: string): unknown {
  const names = mostNamesIn(body);
  if (names > MAX_NAMES)
    throw new AppError('INVALID_BODY', `The form has ${names} names, at most ${MAX_NAMES} are read.`);
  return Object.fromEntries(parametersIn(body));
}

function jsonIn(network: Network, body: string): unknown {
  const excess = excessOf(body, BOUNDS);
  if (excess !== null) throw new AppError('INVALID_BODY', `The body ${excess}.`);
  try {
    return JSON.parse(body.endsWith('\0') ? body.replace(/(?<!\0)\0+$/, '') : body);
  } catch {
    throw new AppError(
      'INVALID_JSON',
      `The body is not JSON; set the integration at ${SHAPE_NAMES[network]} to send JSON (for ChirpStack: payload encoding JSON).`,
    );
  }
}

/** Input of a decoding job, as JSON; `variables`: the device's configuration. */
export function uplinkInput(event: NetworkEvent, receivedAt: number, variables: Record<string, string>): string {
  const { uplink, raw } = event;
  if (uplink === null) throw new TypeError('an event without an uplink has no input');
  const { content, normalized } = uplink;
  const time = isoTime(networkTime(uplink.times, receivedAt));
  const shared = { rawPayload: raw, normalizedPayload: { ...normalized, time } };
  if (content.kind === 'particle') return JSON.stringify({ payload: content.payload, event: content.event, ...shared });
  const recvTime = time ?? new Date(receivedAt).toISOString();
  return JSON.stringify({ bytes: [...content.bytes], fPort: normalized.port, recvTime, variables, ...shared });
}

/** Input for `decodeEvent`, for an event other than an uplink. */
export function eventInput(
  { deviceIdentifier, raw }: NetworkEvent,
  { type, event, time }: OtherEvent,
  receivedAt: number,
  variables: Record<string, string>,
): string {
  const recvTime = new Date(time ?? receivedAt).toISOString();
  const normalizedPayload = { deveui: deviceIdentifier, deviceEui: deviceIdentifier, time: isoTime(time) };
  return JSON.stringify({ type, event, recvTime, variables, rawPayload: raw, normalizedPayload });
}

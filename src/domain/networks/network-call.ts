import { AppError } from '../../errors.ts';
import { readChirpstackEvent } from './chirpstack.ts';
import { readHeliumMessage } from './helium.ts';
import { isObject } from './json-reading.ts';
import { type Network, type NetworkEvent, NETWORKS } from './network-event.ts';
import { readParticleEvent } from './particle.ts';
import { readTtiMessage } from './tti.ts';

const PATH = /^\/integrations\/(?:lorawan\/([^/?]+)|(particle))\/?$/i;

/** What the networks' readers look at of a request: the text of the body and the query's parameters. */
interface NetworkRequest {
  body: string;
  GET: Record<string, string[]>;
}

/** Where a network's calls go, and how the log names them. */
export function pathOfNetwork(network: Network): string {
  return network === 'particle' ? '/integrations/particle/' : `/integrations/lorawan/${network}/`;
}

/** The network whose URL this path is; null for any other path, such as a product's webhook. */
export function networkOfPath(path: string): Network | null {
  const match = PATH.exec(path);
  const name = (match?.[1] ?? match?.[2])?.toLowerCase();
  return NETWORKS.find((network) => network === name) ?? null;
}

/** For requests that people type in: which network's message this is; null: none that is known. */
export function networkOfBody(body: string): Network | null {
  let message: unknown;
  try {
    message = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isObject(message)) return null;
  if ('end_device_ids' in message) return 'tti';
  if ('deviceInfo' in message) return 'chirpstack';
  if ('dev_eui' in message) return 'helium';
  return 'coreid' in message ? 'particle' : null;
}

/** Reads a network's call; INVALID_JSON or INVALID_BODY when its body is no message of a network. */
export function readNetworkCall(network: Network, request: NetworkRequest): NetworkEvent {
  const { body } = request;
  const message = network === 'particle' && FORM.test(body) ? formIn(body) : jsonIn(network, body);
  if (!isObject(message))
    throw new AppError('INVALID_BODY', `The body must be one JSON object, as ${network} sends it.`);
  const eventName = request.GET['event']?.[0];
  switch (network) {
    case 'tti':
      return readTtiMessage(message);
    case 'chirpstack':
      return readChirpstackEvent(message, eventName);
    case 'helium':
      return readHeliumMessage(message, eventName);
    case 'particle':
      return readParticleEvent(message);
  }
}

/** Particle's older webhooks send the same names as a form. */
const FORM = /^[\w-]+=/;

function formIn(body: string): unknown {
  return Object.fromEntries(new URLSearchParams(body));
}

function jsonIn(network: Network, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new AppError(
      'INVALID_JSON',
      `The body is not JSON; set the integration at ${network} to send JSON (for ChirpStack: payload encoding JSON).`,
    );
  }
}

/** What the engine gets as a job's input. */
export function uplinkInput(event: NetworkEvent, receivedAt: number): string {
  const { uplink, raw } = event;
  if (uplink === null) throw new TypeError('an event without an uplink has no input');
  const { content, normalized } = uplink;
  const shared = { rawPayload: raw, normalizedPayload: normalized };
  if (content.kind === 'particle') return JSON.stringify({ payload: content.payload, event: content.event, ...shared });
  const recvTime = normalized.time ?? new Date(receivedAt).toISOString();
  return JSON.stringify({ bytes: [...content.bytes], fPort: normalized.port, recvTime, variables: {}, ...shared });
}

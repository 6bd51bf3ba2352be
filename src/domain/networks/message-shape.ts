import { AppError } from '../../errors.ts';
import { isActilityMessage } from './actility.ts';
import { isObject, type JsonObject, objectAt, objectsIn, textIn } from './json-reading.ts';
import { isKerlinkMessage } from './kerlink.ts';
import { isLoriotMessage } from './loriot.ts';
import { isNetmoreMessage } from './netmore.ts';
import type { Network } from './network-event.ts';

/**
 * A network whose messages are recognized by their keys; those without a URL of their own arrive at any LoRaWAN
 * network's.
 */
export type Shape = Network | 'actility' | 'loriot' | 'netmore' | 'kerlink';

/** Names of the networks, for messages. */
export const SHAPE_NAMES: Record<Shape, string> = {
  tti: 'The Things Stack',
  chirpstack: 'ChirpStack',
  helium: 'Helium',
  particle: 'Particle',
  actility: 'Actility ThingPark',
  loriot: 'LORIOT',
  netmore: 'Netmore',
  kerlink: 'Kerlink Wanesy',
};

/** The network whose URL takes messages of the shape. */
export function networkOfShape(shape: Shape): Network {
  return shape === 'tti' || shape === 'helium' || shape === 'particle' ? shape : 'chirpstack';
}

/** The network of a message, by its keys; null: unknown. */
export function shapeOf(message: JsonObject): Shape | null {
  if ('end_device_ids' in message || isConsoleEvent(message) || isStoredMessage(message)) return 'tti';
  if (isActilityMessage(message)) return 'actility';
  if (isLoriotMessage(message)) return 'loriot';
  if (isKerlinkMessage(message)) return 'kerlink';
  if (isNetmoreMessage(message)) return 'netmore';
  if (isObject(message['deviceInfo']) || 'devEUI' in message) return 'chirpstack';
  if ('dev_eui' in message) return 'helium';
  return 'coreid' in message ? 'particle' : null;
}

/** An event as the console of The Things Stack shows it. */
function isConsoleEvent(message: JsonObject): boolean {
  return Array.isArray(message['identifiers']) && typeof message['name'] === 'string';
}

/** A message as The Things Stack's storage hands it out. */
function isStoredMessage({ result }: JsonObject): boolean {
  return isObject(result) && 'end_device_ids' in result;
}

/**
 * The message itself without its wrapper: The Things Stack's console (`data`) and storage (`result`) add one.
 * INVALID_BODY for an event of that console which is no message of an application.
 */
export function bareMessage(message: JsonObject): JsonObject {
  if (isStoredMessage(message)) return message['result'] as JsonObject;
  if (!isConsoleEvent(message)) return message;
  const data = objectAt(message, 'data');
  if ('end_device_ids' in data) return data;
  const ids = objectsIn(message['identifiers']).map((one) => objectAt(one, 'device_ids'));
  const device = ids.find((one) => textIn(one['dev_eui']) !== null);
  if (device !== undefined && isObject(data['uplink_message'])) return { end_device_ids: device, ...data };
  const name = (message['name'] as string).slice(0, 100);
  throw new AppError(
    'INVALID_BODY',
    `This is the event "${name}" of The Things Stack's console, not a message for applications: set up a webhook ` +
      '(Integrations, Webhooks) that sends "Uplink message", or copy the event "as.up.data.forward".',
  );
}

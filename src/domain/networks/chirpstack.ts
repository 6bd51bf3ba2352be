import {
  bytesIn,
  isObject,
  isoTime,
  type JsonObject,
  numberIn,
  objectAt,
  objectsIn,
  textIn,
  timeIn,
} from './json-reading.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';

/** Keys that only events other than uplinks have: ack, txack, log, status, join, location, integration. */
const OTHER_EVENTS = [
  'acknowledged',
  'queueItemId',
  'downlinkId',
  'level',
  'margin',
  'batteryLevel',
  'joinServer',
  'location',
  'integrationName',
];
const UPLINK_KEYS = ['rxInfo', 'data', 'object', 'fPort', 'fCnt', 'dr'];

/**
 * An event of ChirpStack v4's HTTP integration in JSON. Its kind is in the URL (`?event=up`); without that the keys
 * decide. Keys with the value 0, "" or false may be absent.
 */
export function readChirpstackEvent(raw: unknown, eventName: string | undefined): NetworkEvent {
  const event = isObject(raw) ? raw : {};
  const deviceIdentifier = textIn(objectAt(event, 'deviceInfo')['devEui']) ?? textIn(event['devEui']);
  const isUplink = eventName === undefined || eventName === '' ? looksLikeUplink(event) : eventName === 'up';
  if (!isUplink || deviceIdentifier === null) return { deviceIdentifier, uplink: null, raw };
  const gateways = objectsIn(event['rxInfo']);
  const time =
    timeIn(event['time']) ??
    timeIn(gateways.map((gateway) => gateway['nsTime'] ?? gateway['gwTime'] ?? gateway['time']).find(Boolean));
  const decoded = event['object'];
  return {
    deviceIdentifier,
    raw,
    uplink: {
      time,
      decoded: isObject(decoded) ? decoded : null,
      content: { kind: 'lorawan', bytes: bytesIn(event['data']) },
      normalized: {
        deviceEui: deviceIdentifier,
        port: numberIn(event['fPort']) ?? 0,
        counter: numberIn(event['fCnt']) ?? 0,
        dataRate: dataRateOf(objectAt(event, 'txInfo', 'modulation')),
        gateways: gateways.map(readGateway),
        time: isoTime(time),
      },
    },
  };
}

function looksLikeUplink(event: JsonObject): boolean {
  return UPLINK_KEYS.some((key) => key in event) && !OTHER_EVENTS.some((key) => key in event);
}

function readGateway(gateway: JsonObject): Gateway {
  return { id: textIn(gateway['gatewayId']), rssi: numberIn(gateway['rssi']) ?? 0, snr: numberIn(gateway['snr']) ?? 0 };
}

function dataRateOf(modulation: JsonObject): string | null {
  const { lora, fsk, lrFhss } = modulation;
  if (isObject(lora))
    return `SF${numberIn(lora['spreadingFactor']) ?? 0}BW${(numberIn(lora['bandwidth']) ?? 0) / 1000}`;
  if (isObject(fsk)) return `FSK${numberIn(fsk['datarate']) ?? 0}`;
  return isObject(lrFhss) ? 'LR-FHSS' : null;
}

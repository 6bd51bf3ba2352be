import {
  bytesIn,
  isObject,
  isoTime,
  type JsonObject,
  numberIn,
  objectAt,
  decodedIn,
  saysSomething,
  textIn,
  timeIn,
} from './json-reading.ts';
import { codingRateText, gatewaysIn, loraDataRate, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier, readableEui } from './identifiers.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';
import { otherEvent, solvedPlace } from './other-event.ts';

/** Keys that only one event other than an uplink has, and its name, in the order in which they are checked. */
const OTHER_EVENTS = {
  acknowledged: 'ack',
  downlinkId: 'txack',
  queueItemId: 'ack',
  level: 'log',
  margin: 'status',
  batteryLevel: 'status',
  joinServer: 'join',
  location: 'location',
  integrationName: 'integration',
  status: 'status',
  error: 'error',
};
const OTHER_KEYS = Object.keys(OTHER_EVENTS) as (keyof typeof OTHER_EVENTS)[];
/** Keys with a value in uplinks only. */
const UPLINK_KEYS = ['data', 'fPort'];
/** Keys that also occur in other events. */
const SHARED_KEYS = ['rxInfo', 'object', 'objectJSON', 'fCnt', 'dr'];
const UPLINK_NAMES = /^\s*up(?:link)?\s*$/i;

/**
 * Reads an event of ChirpStack's HTTP integration in JSON: of v4 (`deviceInfo`), or of v3, which the built-in servers
 * of Milesight's and RAK's gateways still send (`devEUI`). Its kind is in the URL (`?event=up`, in any case), or else
 * follows from the keys that have a value. Keys with the value 0, "" or false may be absent.
 */
export function readChirpstackEvent(raw: unknown, eventName: string | undefined): NetworkEvent {
  const event = isObject(raw) ? raw : {};
  const named = textIn(objectAt(event, 'deviceInfo')['devEui']) ?? textIn(event['devEUI']) ?? textIn(event['devEui']);
  const deviceIdentifier = named === null ? null : readableEui(named);
  const name = eventName?.trim() ?? '';
  const other = name === '' ? otherKind(event) : UPLINK_NAMES.test(name) ? null : name.toLowerCase();
  if (other !== null && (deviceIdentifier !== null || name !== '' || other !== 'join'))
    return otherEvent(deviceIdentifier, raw, {
      type: other,
      event,
      time: timeIn(event['time']),
      decoded: decodedOf(other, event),
    });
  if (deviceIdentifier === null)
    throw missingIdentifier(
      'deviceInfo.devEui',
      ' ChirpStack v3 and gateways with a built-in server call it "devEUI".',
    );
  const gateways = gatewaysIn(event['rxInfo']);
  const txInfo = objectAt(event, 'txInfo');
  return lorawanUplink({
    raw,
    deviceIdentifier,
    times: {
      server: [...gateways.map((gateway) => timeIn(gateway['nsTime'])), timeIn(event['publishedAt'])],
      // `time` comes from a gateway's clock, if one has sent it.
      gateways: [timeIn(event['time']), ...gateways.map(gatewayTime)],
    },
    port: numberIn(event['fPort']),
    counter: numberIn(event['fCnt']),
    address: textIn(event['devAddr']),
    frequency: numberIn(txInfo['frequency']),
    dataRate: dataRateOf(txInfo),
    codingRate: codingRateText(
      textIn(objectAt(txInfo, 'modulation', 'lora')['codeRate']) ??
        textIn(objectAt(txInfo, 'loRaModulationInfo')['codeRate']) ??
        textIn(txInfo['codeRate']),
    ),
    gateways: gateways.map(readGateway),
    bytes: bytesIn(event['data']),
    decoded: decodedIn(event['object']) ?? decodedIn(event['objectJSON']),
    portZeroIsMac: false,
  });
}

/** Kind of an event whose URL does not name it, by its keys; null: an uplink. */
function otherKind(event: JsonObject): string | null {
  if (UPLINK_KEYS.some((key) => saysSomething(event[key]))) return null;
  const own = OTHER_KEYS.find((key) => saysSomething(event[key]));
  if (own !== undefined) return OTHER_EVENTS[own];
  // Without any values, as in a rejected downlink, the presence of keys decides.
  if (SHARED_KEYS.some((key) => saysSomething(event[key])) || UPLINK_KEYS.some((key) => key in event)) return null;
  const empty = OTHER_KEYS.find((key) => event[key] !== undefined && event[key] !== null);
  if (empty !== undefined) return OTHER_EVENTS[empty];
  return SHARED_KEYS.some((key) => key in event) ? null : 'join';
}

/** Battery and margin, or a place. Ignores a battery level that the device does not know, or does not need. */
function decodedOf(type: string, event: JsonObject): JsonObject | null {
  if (type === 'location') return solvedPlace(objectAt(event, 'location'));
  if (type !== 'status') return null;
  const { batteryLevelUnavailable, externalPowerSource, batteryLevel, margin } = event;
  const isKnown = batteryLevelUnavailable !== true && externalPowerSource !== true;
  const [level, decibels] = [isKnown ? numberIn(batteryLevel) : null, numberIn(margin)];
  if (level === null && decibels === null) return null;
  return { ...(level === null ? {} : { batteryLevel: level }), ...(decibels === null ? {} : { margin: decibels }) };
}

function gatewayTime(gateway: JsonObject): number | null {
  return timeIn(gateway['gwTime']) ?? timeIn(gateway['time']);
}

function readGateway(gateway: JsonObject): Gateway {
  const id = textIn(gateway['gatewayId']) ?? textIn(gateway['gatewayID']) ?? textIn(gateway['mac']);
  return {
    id: id === null ? null : readableEui(id),
    datetime: isoTime(gatewayTime(gateway) ?? timeIn(gateway['nsTime'])),
    channel: numberIn(gateway['channel']) ?? 0,
    rssi: numberIn(gateway['rssi']) ?? 0,
    snr: numberIn(gateway['snr']) ?? numberIn(gateway['loRaSNR']) ?? 0,
  };
}

function dataRateOf(txInfo: JsonObject): string | null {
  const { lora, fsk, lrFhss } = objectAt(txInfo, 'modulation');
  if (isObject(lora)) return loraDataRate(numberIn(lora['spreadingFactor']), numberIn(lora['bandwidth']));
  if (isObject(fsk)) return `FSK${numberIn(fsk['datarate']) ?? 0}`;
  if (isObject(lrFhss)) return 'LR-FHSS';
  const v3 = txInfo['loRaModulationInfo'];
  if (isObject(v3)) return loraDataRate(numberIn(v3['spreadingFactor']), numberIn(v3['bandwidth']));
  const gateway = txInfo['dataRate'];
  return isObject(gateway) ? loraDataRate(numberIn(gateway['spreadFactor']), numberIn(gateway['bandwidth'])) : null;
}

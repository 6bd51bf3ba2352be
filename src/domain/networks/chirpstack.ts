import {
  bytesIn,
  isObject,
  isoTime,
  type JsonObject,
  numberIn,
  objectAt,
  objectOf,
  textIn,
  timeIn,
} from './json-reading.ts';
import { codingRateText, gatewaysIn, loraDataRate, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './missing-identifier.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';
import { readableEui } from './network-identity.ts';

/** Keys that only events other than uplinks have: ack, txack, log, status, join, location, integration, error. */
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
  'status',
  'error',
];
const UPLINK_KEYS = ['rxInfo', 'data', 'object', 'objectJSON', 'fPort', 'fCnt', 'dr'];

/**
 * An event of ChirpStack's HTTP integration in JSON: of v4 (`deviceInfo`), or of v3, which the built-in servers of
 * Milesight's and RAK's gateways still send (`devEUI`). Its kind is in the URL (`?event=up`); without that the keys
 * decide. Keys with the value 0, "" or false may be absent.
 */
export function readChirpstackEvent(raw: unknown, eventName: string | undefined): NetworkEvent {
  const event = isObject(raw) ? raw : {};
  const named = textIn(objectAt(event, 'deviceInfo')['devEui']) ?? textIn(event['devEUI']) ?? textIn(event['devEui']);
  const deviceIdentifier = named === null ? null : readableEui(named);
  const isNamed = eventName !== undefined && eventName !== '';
  const isUplink = isNamed ? eventName === 'up' : looksLikeUplink(event);
  if (deviceIdentifier === null) {
    if (isNamed ? !isUplink : OTHER_EVENTS.some((key) => key in event)) return { deviceIdentifier, uplink: null, raw };
    throw missingIdentifier(
      'deviceInfo.devEui',
      ' ChirpStack v3 and gateways with a built-in server call it "devEUI".',
    );
  }
  if (!isUplink) return { deviceIdentifier, uplink: null, raw };
  const gateways = gatewaysIn(event['rxInfo']);
  const txInfo = objectAt(event, 'txInfo');
  return lorawanUplink({
    raw,
    deviceIdentifier,
    time: timeIn(event['time']) ?? timeIn(gateways.map(timeOf).find(Boolean)),
    port: numberIn(event['fPort']),
    counter: numberIn(event['fCnt']),
    frequency: numberIn(txInfo['frequency']),
    dataRate: dataRateOf(txInfo),
    codingRate: codingRateText(
      textIn(objectAt(txInfo, 'modulation', 'lora')['codeRate']) ??
        textIn(objectAt(txInfo, 'loRaModulationInfo')['codeRate']) ??
        textIn(txInfo['codeRate']),
    ),
    gateways: gateways.map(readGateway),
    bytes: bytesIn(event['data']),
    decoded: objectOf(event['object']) ?? objectOf(event['objectJSON']),
    portZeroIsMac: false,
  });
}

function looksLikeUplink(event: JsonObject): boolean {
  return UPLINK_KEYS.some((key) => key in event) && !OTHER_EVENTS.some((key) => key in event);
}

function timeOf(gateway: JsonObject): unknown {
  return gateway['nsTime'] ?? gateway['gwTime'] ?? gateway['time'];
}

function readGateway(gateway: JsonObject): Gateway {
  const id = textIn(gateway['gatewayId']) ?? textIn(gateway['gatewayID']) ?? textIn(gateway['mac']);
  return {
    id: id === null ? null : readableEui(id),
    datetime: isoTime(timeIn(gateway['gwTime']) ?? timeIn(timeOf(gateway))),
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

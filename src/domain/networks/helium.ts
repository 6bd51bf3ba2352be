import {
  bytesIn,
  isObject,
  isoTime,
  numberIn,
  objectAt,
  decodedIn,
  saysSomething,
  textIn,
  timeIn,
} from './json-reading.ts';
import { gatewaysIn, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { NetworkEvent } from './network-event.ts';
import { otherEvent } from './other-event.ts';

/**
 * Reads a message of the Helium console's HTTP integration. Join requests and the like carry a `type` or `category`
 * that is no uplink. `decoded.payload` may be a list, as the console's Cayenne decoder makes it.
 */
export function readHeliumMessage(raw: unknown): NetworkEvent {
  const message = isObject(raw) ? raw : {};
  const deviceIdentifier = textIn(message['dev_eui']);
  const kind = textIn(message['type']) ?? textIn(message['category']);
  const isUplink = kind === null ? !saysSomething(message['join']) : /uplink|^up$|^data$/i.test(kind);
  if (!isUplink)
    return otherEvent(deviceIdentifier, raw, {
      type: kind ?? 'join',
      event: message,
      time: timeIn(message['reported_at']),
    });
  if (deviceIdentifier === null) throw missingIdentifier('dev_eui');
  const hotspots = gatewaysIn(message['hotspots']);
  const [first] = hotspots;
  const decoded = objectAt(message, 'decoded')['payload'];
  return lorawanUplink({
    raw,
    deviceIdentifier,
    times: {
      server: [timeIn(message['reported_at'])],
      gateways: hotspots.map((hotspot) => timeIn(hotspot['reported_at'])),
    },
    port: numberIn(message['port']),
    counter: numberIn(message['fcnt']),
    address: textIn(message['devaddr']),
    frequency: numberIn(first?.['frequency']),
    dataRate: textIn(first?.['spreading']),
    codingRate: textIn(first?.['coding_rate']),
    gateways: hotspots.map((hotspot) => ({
      id: textIn(hotspot['id']) ?? textIn(hotspot['name']),
      datetime: isoTime(timeIn(hotspot['reported_at'])),
      channel: numberIn(hotspot['channel']) ?? 0,
      rssi: numberIn(hotspot['rssi']) ?? 0,
      snr: numberIn(hotspot['snr']) ?? 0,
    })),
    bytes: bytesIn(message['payload']),
    decoded: decodedIn(decoded),
    portZeroIsMac: message['port'] !== undefined,
  });
}

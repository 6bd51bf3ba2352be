import { hexBytesIn, isoTime, numberIn, objectAt, decodedIn, textIn, timeIn } from './json-reading.ts';
import { gatewaysIn, loraDataRate, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';
import { otherEvent, solvedPlace } from './other-event.ts';

/** True for a message of Actility's ThingPark: everything is under one key, `DevEUI_uplink` for an uplink. */
export function isActilityMessage(message: Record<string, unknown>): boolean {
  return Object.keys(message).some((key) => key.startsWith('DevEUI_'));
}

/** Reads a message of Actility's ThingPark; its numbers may be written as text. */
export function readActilityMessage(message: Record<string, unknown>): NetworkEvent {
  const key = Object.keys(message).find((name) => name.startsWith('DevEUI_')) ?? 'DevEUI_uplink';
  const up = objectAt(message, key);
  const deviceIdentifier = textIn(up['DevEUI']);
  if (key !== 'DevEUI_uplink') {
    const place = { latitude: up['DevLAT'], longitude: up['DevLON'] };
    const decoded = key === 'DevEUI_location' ? solvedPlace(place) : null;
    return otherEvent(deviceIdentifier, message, { type: key, event: message, time: timeIn(up['Time']), decoded });
  }
  if (deviceIdentifier === null) throw missingIdentifier('DevEUI_uplink.DevEUI');
  const listed = gatewaysIn(objectAt(up, 'Lrrs')['Lrr']);
  const time = timeIn(up['Time']);
  const channel = Number(/(?<!\d)\d+$/.exec(textIn(up['Channel']) ?? '')?.[0] ?? 0);
  const gateways = (listed.length > 0 ? listed : [up]).map((lrr): Gateway => ({
    id: textIn(lrr['Lrrid']),
    datetime: isoTime(time),
    channel,
    rssi: numberIn(lrr['LrrRSSI']) ?? 0,
    snr: numberIn(lrr['LrrSNR']) ?? 0,
  }));
  const factor = numberIn(up['SpFact']);
  return lorawanUplink({
    raw: message,
    deviceIdentifier,
    times: { server: [], gateways: [time] },
    port: numberIn(up['FPort']),
    counter: numberIn(up['FCntUp']),
    address: textIn(up['DevAddr']),
    frequency: numberIn(up['Frequency']),
    dataRate: factor === null ? null : loraDataRate(factor, 125),
    codingRate: textIn(up['CodingRate']),
    gateways,
    bytes: hexBytesIn(up['payload_hex']),
    decoded: decodedIn(up['payload']),
    portZeroIsMac: true,
  });
}

import { AppError } from '../../errors.ts';
import {
  bytesIn,
  hexBytesIn,
  isoTime,
  isObject,
  type JsonObject,
  numberIn,
  objectAt,
  decodedIn,
  textIn,
  timeIn,
} from './json-reading.ts';
import { gatewaysIn, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { NetworkEvent } from './network-event.ts';
import { otherEvent } from './other-event.ts';

/** True for a message of Kerlink's Wanesy Management Center. */
export function isKerlinkMessage(message: JsonObject): boolean {
  return isObject(message['endDevice']);
}

/**
 * Reads a message of Kerlink's Wanesy Management Center; the payload in hexadecimal or base64, as `encodingType` says.
 * Without a payload and an uplink's counter it is another event. INVALID_BODY when the payload is encrypted.
 */
export function readKerlinkMessage(message: JsonObject): NetworkEvent {
  const device = objectAt(message, 'endDevice');
  const deviceIdentifier = textIn(device['devEui']);
  const time = timeIn(message['recvTime']);
  if (!('payload' in message) && !('fCntUp' in message)) {
    const type = textIn(message['eventType']) ?? textIn(message['type']) ?? textIn(message['status']) ?? 'event';
    return otherEvent(deviceIdentifier, message, { type, event: message, time });
  }
  if (deviceIdentifier === null) throw missingIdentifier('endDevice.devEui');
  if (message['encrypted'] === true)
    throw new AppError(
      'INVALID_BODY',
      'This message of Kerlink has its payload encrypted: give the device its AppSKey at Wanesy, so that it decrypts.',
    );
  const isBase64 = /base64/i.test(textIn(message['encodingType']) ?? '');
  return lorawanUplink({
    raw: message,
    deviceIdentifier,
    times: { server: [time], gateways: [] },
    port: numberIn(message['fPort']),
    counter: numberIn(message['fCntUp']),
    address: textIn(device['devAddr']),
    frequency: numberIn(message['ulFrequency']),
    dataRate: textIn(message['dataRate']),
    codingRate: textIn(message['codingRate']),
    gateways: gatewaysIn(message['gwInfo']).map((gateway) => ({
      id: textIn(gateway['gwEui']),
      datetime: isoTime(time),
      channel: numberIn(gateway['channel']) ?? 0,
      rssi: numberIn(gateway['rssi']) ?? 0,
      snr: numberIn(gateway['snr']) ?? 0,
    })),
    bytes: isBase64 ? bytesIn(message['payload']) : hexBytesIn(message['payload']),
    decoded: decodedIn(message['decoded']) ?? decodedIn(message['object']),
    portZeroIsMac: message['fPort'] !== undefined,
  });
}

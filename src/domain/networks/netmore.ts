import { hexBytesIn, isoTime, type JsonObject, numberIn, decodedIn, textIn, timeIn } from './json-reading.ts';
import { gatewaysIn, loraDataRate, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { NetworkEvent } from './network-event.ts';
import { otherEvent } from './other-event.ts';

/** True for a message of Netmore: flat, with the payload in hexadecimal and the numbers as text. */
export function isNetmoreMessage(message: JsonObject): boolean {
  const isFlat = 'devEui' in message || 'devEUI' in message;
  return isFlat && !('data' in message) && ('payload' in message || 'messageType' in message) && isTold(message);
}

function isTold(message: JsonObject): boolean {
  return ['fCntUp', 'messageType', 'sensorType', 'gatewayIdentifier'].some((key) => key in message);
}

/** Reads a message of Netmore; it may come as the only one of a list. */
export function readNetmoreMessage(message: JsonObject): NetworkEvent {
  const deviceIdentifier = textIn(message['devEui']) ?? textIn(message['devEUI']);
  const type = textIn(message['messageType']) ?? 'payload';
  const time = timeIn(message['timestamp']);
  if (!/^(?:payload|uplink|data)/i.test(type))
    return otherEvent(deviceIdentifier, message, { type, event: message, time });
  if (deviceIdentifier === null) throw missingIdentifier('devEui');
  const listed = gatewaysIn(message['gateways']);
  const factor = numberIn(message['spreadingFactor']);
  return lorawanUplink({
    raw: message,
    deviceIdentifier,
    times: { server: [time], gateways: [] },
    port: numberIn(message['fPort']),
    counter: numberIn(message['fCntUp']),
    frequency: numberIn(message['freq']) ?? numberIn(message['frequency']),
    dataRate: factor === null ? textIn(message['dr']) : loraDataRate(factor, 125),
    codingRate: textIn(message['codingRate']),
    gateways: (listed.length > 0 ? listed : 'rssi' in message ? [message] : []).map((gateway) => ({
      id: textIn(gateway['gatewayIdentifier']) ?? textIn(gateway['gatewayId']),
      datetime: isoTime(timeIn(gateway['timestamp'])),
      channel: 0,
      rssi: numberIn(gateway['rssi']) ?? 0,
      snr: numberIn(gateway['snr']) ?? 0,
    })),
    bytes: hexBytesIn(message['payload']),
    decoded: decodedIn(message['decoded']),
    portZeroIsMac: message['fPort'] !== undefined,
  });
}

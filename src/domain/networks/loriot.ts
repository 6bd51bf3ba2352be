import { AppError } from '../../errors.ts';
import { hexBytesIn, isoTime, type JsonObject, numberIn, objectAt, objectOf, textIn, timeIn } from './json-reading.ts';
import { gatewaysIn, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { NetworkEvent } from './network-event.ts';
import { otherEvent } from './other-event.ts';

/** True for a message of LORIOT: each has `cmd` and, if it concerns a device, `EUI`. */
export function isLoriotMessage(message: JsonObject): boolean {
  return typeof message['cmd'] === 'string' && ('EUI' in message || 'fcnt' in message);
}

/**
 * Reads a message of LORIOT. An uplink comes as `rx`, and again as `gw` with the receptions of each gateway: both are
 * the same frame. INVALID_BODY when the payload is encrypted.
 */
export function readLoriotMessage(message: JsonObject): NetworkEvent {
  const deviceIdentifier = textIn(message['EUI']);
  const type = textIn(message['cmd']) ?? 'rx';
  const time = timeIn(message['ts']);
  if (type !== 'rx' && type !== 'gw') return otherEvent(deviceIdentifier, message, { type, event: message, time });
  if (deviceIdentifier === null) throw missingIdentifier('EUI');
  if (message['data'] === undefined && textIn(message['encdata']) !== null)
    throw new AppError(
      'INVALID_BODY',
      'This message of LORIOT has its payload encrypted ("encdata"): assign the device its AppSKey at LORIOT.',
    );
  const gateways = gatewaysIn(message['gws']);
  const [, dataRate = null, codingRate = null] =
    /^(SF\d+ ?BW\d+)(?: (\d\/\d))?$/.exec(textIn(message['dr']) ?? '') ?? [];
  const decoded = objectOf(message['decoded']);
  return lorawanUplink({
    raw: message,
    deviceIdentifier,
    times: { server: [time], gateways: [] },
    port: numberIn(message['port']),
    counter: numberIn(message['fcnt']),
    frequency: numberIn(message['freq']),
    dataRate: dataRate?.replace(' ', '') ?? textIn(message['dr']),
    codingRate,
    gateways: (gateways.length > 0 ? gateways : 'rssi' in message ? [message] : []).map((gateway) => ({
      id: textIn(gateway['gweui']),
      datetime: isoTime(timeIn(gateway['time']) ?? timeIn(gateway['ts'])),
      channel: 0,
      rssi: numberIn(gateway['rssi']) ?? 0,
      snr: numberIn(gateway['snr']) ?? 0,
    })),
    bytes: hexBytesIn(message['data']),
    decoded: decoded === null || !('data' in decoded) ? decoded : objectAt(decoded, 'data'),
    portZeroIsMac: message['port'] !== undefined,
  });
}

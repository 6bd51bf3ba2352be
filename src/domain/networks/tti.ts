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

/**
 * A message of a The Things Stack v3 webhook. Keys with the value 0, "" or false are absent. What has no
 * `uplink_message` is a join, a downlink's fate, a location or a copy (`uplink_normalized`).
 */
export function readTtiMessage(raw: unknown): NetworkEvent {
  const message = isObject(raw) ? raw : {};
  const deviceIdentifier = textIn(objectAt(message, 'end_device_ids')['dev_eui']);
  const up = message['uplink_message'];
  if (!isObject(up) || deviceIdentifier === null) return { deviceIdentifier, uplink: null, raw };
  const gateways = objectsIn(up['rx_metadata']);
  const time =
    timeIn(up['received_at']) ??
    timeIn(message['received_at']) ??
    timeIn(gateways.map((gateway) => gateway['received_at'] ?? gateway['time']).find(Boolean));
  const decoded = up['decoded_payload'];
  return {
    deviceIdentifier,
    raw,
    uplink: {
      time,
      decoded: isObject(decoded) ? decoded : null,
      content: { kind: 'lorawan', bytes: bytesIn(up['frm_payload']) },
      normalized: {
        deviceEui: deviceIdentifier,
        port: numberIn(up['f_port']) ?? 0,
        counter: numberIn(up['f_cnt']) ?? 0,
        dataRate: dataRateOf(objectAt(up, 'settings', 'data_rate')),
        gateways: gateways.map(readGateway),
        time: isoTime(time),
      },
    },
  };
}

function readGateway(gateway: JsonObject): Gateway {
  const ids = objectAt(gateway, 'gateway_ids');
  return {
    id: textIn(ids['gateway_id']) ?? textIn(ids['eui']),
    rssi: numberIn(gateway['rssi']) ?? numberIn(gateway['channel_rssi']) ?? 0,
    snr: numberIn(gateway['snr']) ?? 0,
  };
}

function dataRateOf(rate: JsonObject): string | null {
  const { bandwidth, spreading_factor: factor } = objectAt(rate, 'lora');
  if (isObject(rate['lora'])) return `SF${numberIn(factor) ?? 0}BW${(numberIn(bandwidth) ?? 0) / 1000}`;
  if (isObject(rate['fsk'])) return `FSK${numberIn(rate['fsk']['bit_rate']) ?? 0}`;
  return isObject(rate['lrfhss']) ? 'LR-FHSS' : null;
}

import {
  bytesIn,
  isObject,
  isoTime,
  type JsonObject,
  numberIn,
  objectAt,
  decodedIn,
  textIn,
  timeIn,
} from './json-reading.ts';
import { gatewaysIn, loraDataRate, lorawanUplink } from './lorawan-uplink.ts';
import { missingIdentifier } from './identifiers.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';
import { otherEvent, solvedPlace } from './other-event.ts';

/** Keys of The Things Stack's other webhook messages. */
const OTHER_EVENTS =
  /^(?:join_accept|downlink_(?:ack|nack|sent|failed|queued|queue_invalidated)|location_solved|service_data|uplink_normalized)$/;

/** Keys that occur in messages of any kind. */
const ENVELOPE = /^(?:end_device_ids|correlation_ids|received_at|simulated)$/;

/**
 * Reads a message of a The Things Stack v3 webhook. Keys with the value 0, "" or false are absent. Without
 * `uplink_message` it is a join, a downlink's fate, a location or a copy (`uplink_normalized`).
 */
export function readTtiMessage(raw: unknown): NetworkEvent {
  const message = isObject(raw) ? raw : {};
  const deviceIdentifier = textIn(objectAt(message, 'end_device_ids')['dev_eui']);
  const up = message['uplink_message'];
  if (deviceIdentifier === null) {
    if (!isObject(up) && Object.keys(message).some((key) => OTHER_EVENTS.test(key))) return readOther(message, null);
    const hint = isObject(message['end_device_ids'])
      ? ' Devices activated by personalisation (ABP) need a DevEUI in the console, and filters must keep it.'
      : ' It is no message of a webhook of The Things Stack in JSON, nor of another network that is known.';
    throw missingIdentifier('end_device_ids.dev_eui', hint);
  }
  if (!isObject(up)) return readOther(message, deviceIdentifier);
  const gateways = gatewaysIn(up['rx_metadata']);
  const rate = objectAt(up, 'settings', 'data_rate');
  return lorawanUplink({
    raw,
    deviceIdentifier,
    times: {
      // Times of the Network Server, the Application Server and, per gateway, the Gateway Server.
      server: [up, message, ...gateways].map((said) => timeIn(said['received_at'])),
      gateways: gateways.map((gateway) => timeIn(gateway['time'])),
    },
    port: numberIn(up['f_port']),
    counter: numberIn(up['f_cnt']),
    address: textIn(objectAt(message, 'end_device_ids')['dev_addr']),
    frequency: numberIn(objectAt(up, 'settings')['frequency']),
    dataRate: dataRateOf(rate),
    codingRate: textIn(objectAt(rate, 'lora')['coding_rate']) ?? textIn(objectAt(up, 'settings')['coding_rate']),
    gateways: gateways.map(readGateway),
    bytes: bytesIn(up['frm_payload']),
    decoded: decodedIn(up['decoded_payload']),
    portZeroIsMac: true,
  });
}

/** Reads another event; merges the content under the event's own name with the rest of the message. */
function readOther(message: JsonObject, deviceIdentifier: string | null): NetworkEvent {
  const known = Object.keys(message).find((key) => OTHER_EVENTS.test(key) && isObject(message[key]));
  const type = known ?? Object.keys(message).find((key) => !ENVELOPE.test(key) && isObject(message[key])) ?? 'unknown';
  const own = objectAt(message, type);
  return otherEvent(deviceIdentifier, message, {
    type,
    event: { ...own, ...message },
    time: timeIn(own['received_at']) ?? timeIn(message['received_at']),
    decoded: type === 'location_solved' ? solvedPlace(objectAt(own, 'location')) : null,
  });
}

function readGateway(gateway: JsonObject): Gateway {
  const ids = objectAt(gateway, 'gateway_ids');
  return {
    id: textIn(ids['gateway_id']) ?? textIn(ids['eui']),
    datetime: isoTime(timeIn(gateway['time']) ?? timeIn(gateway['received_at'])),
    channel: numberIn(gateway['channel_index']) ?? 0,
    rssi: numberIn(gateway['rssi']) ?? numberIn(gateway['channel_rssi']) ?? 0,
    snr: numberIn(gateway['snr']) ?? 0,
  };
}

function dataRateOf(rate: JsonObject): string | null {
  const { bandwidth, spreading_factor: factor } = objectAt(rate, 'lora');
  if (isObject(rate['lora'])) return loraDataRate(numberIn(factor), numberIn(bandwidth));
  if (isObject(rate['fsk'])) return `FSK${numberIn(rate['fsk']['bit_rate']) ?? 0}`;
  return isObject(rate['lrfhss']) ? 'LR-FHSS' : null;
}

import { readChirpstackEvent } from './chirpstack.ts';
import { bytesIn, isObject, isoTime, numberIn, objectAt, objectsIn, textIn, timeIn } from './json-reading.ts';
import type { NetworkEvent } from './network-event.ts';

/**
 * A message of the Helium console's HTTP integration. Consoles built on ChirpStack send ChirpStack's events, told by
 * their `deviceInfo`. Join requests and the like carry a `type` or `category` that is no uplink.
 */
export function readHeliumMessage(raw: unknown, eventName: string | undefined): NetworkEvent {
  const message = isObject(raw) ? raw : {};
  if (isObject(message['deviceInfo'])) return readChirpstackEvent(raw, eventName);
  const deviceIdentifier = textIn(message['dev_eui']);
  const kind = textIn(message['type']) ?? textIn(message['category']);
  const isUplink = kind === null ? !('join' in message) : /uplink|^up$|^data$/i.test(kind);
  if (!isUplink || deviceIdentifier === null) return { deviceIdentifier, uplink: null, raw };
  const hotspots = objectsIn(message['hotspots']);
  const [first] = hotspots;
  const time = timeIn(message['reported_at']) ?? timeIn(first?.['reported_at']);
  const decoded = objectAt(message, 'decoded')['payload'];
  return {
    deviceIdentifier,
    raw,
    uplink: {
      time,
      decoded: isObject(decoded) ? decoded : null,
      content: { kind: 'lorawan', bytes: bytesIn(message['payload']) },
      normalized: {
        deviceEui: deviceIdentifier,
        port: numberIn(message['port']) ?? 0,
        counter: numberIn(message['fcnt']) ?? 0,
        dataRate: textIn(first?.['spreading']),
        gateways: hotspots.map((hotspot) => ({
          id: textIn(hotspot['id']) ?? textIn(hotspot['name']),
          rssi: numberIn(hotspot['rssi']) ?? 0,
          snr: numberIn(hotspot['snr']) ?? 0,
        })),
        time: isoTime(time),
      },
    },
  };
}

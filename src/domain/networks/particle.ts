import { decodedIn, isObject, type JsonObject, textIn, timeIn } from './json-reading.ts';
import { missingIdentifier } from './identifiers.ts';
import type { NetworkEvent } from './network-event.ts';
import { otherEvent } from './other-event.ts';

/** Events that Particle's cloud itself publishes (`spark/status`, `particle/internal/…`): they carry no measurement. */
const SYSTEM_EVENT = /^(?:spark|particle)\//i;

/** Keys that Particle's own templates put beside the data. */
const ENVELOPE = /^(?:event|name|coreid|published_at|userid|user_id|ttl|public|version|fw_version|product_?id)$/i;

/**
 * Reads the default JSON of a Particle webhook: `event`, `data` (any published text), `coreid`, `published_at`. Custom
 * JSON may have keys of its own in place of `data`: then they are the data.
 */
export function readParticleEvent(raw: unknown): NetworkEvent {
  const message = isObject(raw) ? raw : {};
  const deviceIdentifier = textIn(message['coreid']);
  const event = textIn(message['event']) ?? '';
  if (SYSTEM_EVENT.test(event))
    return otherEvent(deviceIdentifier, raw, { type: event, event: message, time: timeIn(message['published_at']) });
  if (deviceIdentifier === null) throw missingIdentifier('coreid');
  const payload = 'data' in message ? (message['data'] ?? '') : (ownKeys(message) ?? '');
  return {
    deviceIdentifier,
    raw,
    other: null,
    uplink: {
      times: { server: [timeIn(message['published_at'])], gateways: [] },
      frame: null,
      decoded: decodedIn(payload),
      content: { kind: 'particle', payload, event },
      carriesPayload: true,
      normalized: {
        deveui: deviceIdentifier,
        port: 0,
        counter: 0,
        frequency: null,
        data_rate: null,
        coding_rate: null,
        gateways: [],
        deviceEui: deviceIdentifier,
        dataRate: null,
      },
    },
  };
}

function ownKeys(message: JsonObject): JsonObject | null {
  const own = Object.entries(message).filter(([key]) => !ENVELOPE.test(key));
  return own.length === 0 ? null : Object.fromEntries(own);
}

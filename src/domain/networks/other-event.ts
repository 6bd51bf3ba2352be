import { type JsonObject, numberIn } from './json-reading.ts';
import type { NetworkEvent, OtherEvent } from './network-event.ts';

/** Keys of the parts that an event can leave out. */
interface OtherParts {
  type: string;
  event: JsonObject;
  time?: number | null;
  decoded?: OtherEvent['decoded'];
}

/** A message that is no uplink; `raw`: the message as it was sent. */
export function otherEvent(
  deviceIdentifier: string | null,
  raw: unknown,
  { type, event, time = null, decoded = null }: OtherParts,
): NetworkEvent {
  return { deviceIdentifier, uplink: null, other: { type, time, event, decoded }, raw };
}

/** A place `{latitude, longitude, …}` that a network computed, for the field `location`; null: no place. */
export function solvedPlace({ latitude, longitude }: JsonObject): JsonObject | null {
  const [lat, lon] = [numberIn(latitude), numberIn(longitude)];
  return lat === null || lon === null ? null : { location: `(${lat},${lon})` };
}

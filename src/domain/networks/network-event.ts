import type { NetworkTimes } from '../times/network-time.ts';
import type { JsonObject } from './json-reading.ts';

/** The networks with a payload structure that is known (CONTRACT 6). */
export const NETWORKS = ['tti', 'chirpstack', 'helium', 'particle'] as const;

/** A network with an integration of its own (CONTRACT 6). */
export type Network = (typeof NETWORKS)[number];

/** A gateway that heard the uplink, as decoders see it; `datetime` as ISO 8601 text. */
export interface Gateway {
  id: string | null;
  datetime: string | null;
  channel: number;
  rssi: number;
  snr: number;
}

/** What decoders find in the global `normalizedPayload` beside `time` (CONTRACT 6): `frequency` in GHz. */
interface NormalizedPayload {
  deveui: string;
  port: number;
  counter: number;
  frequency: number | null;
  data_rate: string | null;
  coding_rate: string | null;
  gateways: Gateway[];
  /** The older spellings. */
  deviceEui: string;
  dataRate: string | null;
}

/** A LoRaWAN uplink or a Particle event that carries data, whatever network it came through. */
interface Uplink {
  /** What it says of when it was received; which of them counts, `networkTime` says. */
  times: NetworkTimes;
  /** What tells a frame from the others of its device: its counter, and the address of the session; null: it is not told apart. */
  frame: { counter: number; session: string } | null;
  /** What the network itself decoded, an object or a list; null: nothing. */
  decoded: object | null;
  normalized: NormalizedPayload;
  /** `bytes` for a LoRaWAN network; `payload` (as the network sent it) and `event` for Particle. */
  content: { kind: 'lorawan'; bytes: Buffer } | { kind: 'particle'; payload: unknown; event: string };
  /** false: only MAC commands, so there is nothing for a decoder. */
  carriesPayload: boolean;
}

/** A join, status, place, acknowledgement or whatever else a network says beside uplinks. */
export interface OtherEvent {
  /** The network's own name of it: `status`, `join_accept`, `DevEUI_location`, … */
  type: string;
  /** The network's time of it in milliseconds; null: it says none. */
  time: number | null;
  /** What `decodeEvent` gets as `event`: the message. */
  event: JsonObject;
  /** What counts as its values where no `decodeEvent` is: battery and margin of a status, a place; null: nothing. */
  decoded: JsonObject | null;
}

/** One message of a network. */
export interface NetworkEvent {
  /** What the network calls the device: an EUI or a core id; null: an event other than an uplink that names none. */
  deviceIdentifier: string | null;
  /** null: it is `other`. */
  uplink: Uplink | null;
  /** null: it is an uplink. */
  other: OtherEvent | null;
  /** The message itself: the global `rawPayload`. */
  raw: unknown;
}

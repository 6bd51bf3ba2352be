import type { NetworkTimes } from '../times/network-time.ts';
import type { JsonObject } from './json-reading.ts';

/** The networks with a known payload structure (CONTRACT 6). */
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

/** The global `normalizedPayload` of decoders, without `time` (CONTRACT 6); `frequency` in GHz. */
interface NormalizedPayload {
  deveui: string;
  port: number;
  counter: number;
  frequency: number | null;
  data_rate: string | null;
  coding_rate: string | null;
  gateways: Gateway[];
  /** Older spellings of `deveui` and `data_rate`. */
  deviceEui: string;
  dataRate: string | null;
}

/** A LoRaWAN uplink or a Particle event with data, of any network. */
interface Uplink {
  /** Receipt times of the message; `networkTime` chooses among them. */
  times: NetworkTimes;
  /** Counter and address of the session, which identify a frame of its device; null: unknown. */
  frame: { counter: number; session: string } | null;
  /** The network's own decoding, an object or a list; null: none. */
  decoded: object | null;
  normalized: NormalizedPayload;
  /** `bytes` for a LoRaWAN network; `payload` (as the network sent it) and `event` for Particle. */
  content: { kind: 'lorawan'; bytes: Buffer } | { kind: 'particle'; payload: unknown; event: string };
  /** False for MAC commands only, which leave a decoder nothing to do. */
  carriesPayload: boolean;
}

/** A join, status, place, acknowledgement or any other message of a network beside uplinks. */
export interface OtherEvent {
  /** The network's own name of the event: `status`, `join_accept`, `DevEUI_location`, … */
  type: string;
  /** The network's time of the event in milliseconds; null: absent. */
  time: number | null;
  /** The message, which is the argument `event` of `decodeEvent`. */
  event: JsonObject;
  /** Values of the event without `decodeEvent`: battery and margin of a status, a place; null: none. */
  decoded: JsonObject | null;
}

/** One message of a network. */
export interface NetworkEvent {
  /** The network's name of the device: an EUI or a core id; null: an event other than an uplink that names none. */
  deviceIdentifier: string | null;
  /** null: it is `other`. */
  uplink: Uplink | null;
  /** null: it is an uplink. */
  other: OtherEvent | null;
  /** The message itself: the global `rawPayload`. */
  raw: unknown;
}

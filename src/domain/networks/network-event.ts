/** The networks with a payload structure that is known (CONTRACT 6). */
export const NETWORKS = ['tti', 'chirpstack', 'helium', 'particle'] as const;

/** A network with an integration of its own (CONTRACT 6). */
export type Network = (typeof NETWORKS)[number];

/** A gateway that heard an uplink; `rssi` in dBm, `snr` in dB, null where the network does not say. */
export interface Gateway {
  id: string | null;
  rssi: number | null;
  snr: number | null;
}

/** What decoders find in the global `normalizedPayload`; `time` as ISO 8601 text. */
interface NormalizedPayload {
  deviceEui: string;
  port: number;
  counter: number;
  dataRate: string | null;
  gateways: Gateway[];
  time: string | null;
}

/** A LoRaWAN uplink or a Particle event that carries data, whatever network it came through. */
interface Uplink {
  /** The network's receive time in milliseconds; null: it says none. */
  time: number | null;
  /** What the network itself decoded; null: nothing. */
  decoded: Record<string, unknown> | null;
  normalized: NormalizedPayload;
  /** `bytes` for a LoRaWAN network; `payload` (as the network sent it) and `event` for Particle. */
  content: { kind: 'lorawan'; bytes: Buffer } | { kind: 'particle'; payload: unknown; event: string };
}

/** One message of a network. */
export interface NetworkEvent {
  /** What the network calls the device: a hexadecimal EUI or a core id; null: the message names none. */
  deviceIdentifier: string | null;
  /** null: a join, status, acknowledgement, … */
  uplink: Uplink | null;
  /** The message itself: the global `rawPayload`. */
  raw: unknown;
}

import type { NetworkTimes } from '../times/network-time.ts';
import { type JsonObject, objectsIn } from './json-reading.ts';
import type { Gateway, NetworkEvent } from './network-event.ts';

/** The parts of an uplink as a LoRaWAN network's reader found them; null: absent. */
interface LorawanParts {
  raw: unknown;
  deviceIdentifier: string;
  times: NetworkTimes;
  port: number | null;
  counter: number | null;
  /** The device's address in its session, which a new join changes. */
  address?: string | null;
  /** Frequency in Hz, MHz or GHz. */
  frequency: number | null;
  dataRate: string | null;
  codingRate: string | null;
  gateways: Gateway[];
  bytes: Buffer;
  decoded: JsonObject | unknown[] | null;
  /** True when port 0 carries MAC commands, as LoRaWAN has it; ChirpStack runs codecs on port 0. */
  portZeroIsMac: boolean;
}

/** Maximum gateways read per uplink: cities have some twenty, a body may list half a million. */
const MAX_GATEWAYS = 50;

/** The first gateways of a message's list. */
export function gatewaysIn(list: unknown): JsonObject[] {
  return objectsIn(Array.isArray(list) ? list.slice(0, MAX_GATEWAYS) : list);
}

/** The uplink in the shape that is common to all LoRaWAN networks (CONTRACT 6). */
export function lorawanUplink(parts: LorawanParts): NetworkEvent {
  const { raw, deviceIdentifier, times, dataRate, codingRate, gateways, bytes, decoded, portZeroIsMac } = parts;
  const port = parts.port ?? 0;
  return {
    deviceIdentifier,
    raw,
    other: null,
    uplink: {
      times,
      frame: parts.counter === null ? null : { counter: parts.counter, session: parts.address?.toLowerCase() ?? '' },
      decoded: decoded !== null && Object.keys(decoded).length > 0 ? decoded : null,
      content: { kind: 'lorawan', bytes },
      carriesPayload: bytes.length > 0 && !(portZeroIsMac && port === 0),
      normalized: {
        deveui: deviceIdentifier,
        port,
        counter: parts.counter ?? 0,
        frequency: gigahertz(parts.frequency),
        data_rate: dataRate,
        coding_rate: codingRate,
        gateways,
        deviceEui: deviceIdentifier,
        dataRate,
      },
    },
  };
}

/** `SF7BW125` from a spreading factor and a bandwidth in Hz or kHz. */
export function loraDataRate(spreadingFactor: number | null, bandwidth: number | null): string {
  const width = bandwidth ?? 0;
  return `SF${spreadingFactor ?? 0}BW${width >= 7_000 ? width / 1000 : width}`;
}

/** A coding rate as `4/5`, also from `CR_4_5`. */
export function codingRateText(rate: string | null): string | null {
  return rate?.replace(/^CR_(?:LI_)?(\d+)_(\d+)$/i, '$1/$2') ?? null;
}

/** The frequency in GHz; its size tells the unit, as LoRaWAN's bands are between 150 MHz and 2.5 GHz. */
function gigahertz(frequency: number | null): number | null {
  if (frequency === null || frequency <= 0) return null;
  const ghz = frequency > 1e6 ? frequency / 1e9 : frequency > 10 ? frequency / 1e3 : frequency;
  return Math.round(ghz * 1e9) / 1e9;
}

import { badInput } from '../../errors.ts';
import type { DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { lorawanUplink } from '../networks/lorawan-uplink.ts';
import type { NetworkEvent } from '../networks/network-event.ts';
import { networkOfBody, pathOfNetwork } from '../networks/network-call.ts';
import { type DecoderRequest, type DecoderRequestInput, requestOfInput } from './decoder-request.ts';

/** A LoRaWAN payload that a person types into the test tool. */
export interface UplinkTrial {
  /** Hexadecimal (blanks, dashes, colons and `0x` do not matter) or base64. */
  bytes: string;
  port?: number | null | undefined;
  /** Receipt time in ms UTC; now when left out. */
  recvTime?: number | null | undefined;
  /** Name → value; the device's configuration when left out. */
  variables?: unknown;
  /** The sending device; the product's oldest when left out. */
  deviceId?: string | null | undefined;
}

const MAX_BYTES = 4096;

/** The uplink as if a network had sent it; BAD_USER_INPUT names the mistake. */
export function typedUplink(trial: UplinkTrial, device: DeviceInfo | null, now: number): NetworkEvent {
  const port = trial.port ?? 1;
  if (!Number.isInteger(port) || port < 0 || port > 255)
    throw badInput('uplink.port: expected a whole number from 0 to 255.');
  const bytes = typedBytes(trial.bytes);
  if (bytes.length > MAX_BYTES) throw badInput(`uplink.bytes: at most ${MAX_BYTES} bytes can be tried out.`);
  return lorawanUplink({
    raw: {},
    deviceIdentifier: device?.serialNumber ?? '0000000000000000',
    times: { server: [trial.recvTime ?? now], gateways: [] },
    port,
    counter: null,
    frequency: null,
    dataRate: null,
    codingRate: null,
    gateways: [],
    bytes,
    decoded: null,
    portZeroIsMac: false,
  });
}

/** The `variables` of `decodeUplink`, all as texts; undefined: none given. */
export function typedVariables(variables: unknown): Record<string, string> | undefined {
  if (variables === null || variables === undefined) return undefined;
  if (typeof variables !== 'object' || Array.isArray(variables))
    throw badInput('uplink.variables: expected an object of names and values.');
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      if (!['string', 'number', 'boolean'].includes(typeof value))
        throw badInput(`uplink.variables.${name.slice(0, 70)}: expected a text, a number or a boolean.`);
      return [name, String(value)];
    }),
  );
}

function typedBytes(text: string): Buffer {
  if (text.length > 8 * MAX_BYTES) throw badInput(`uplink.bytes: at most ${MAX_BYTES} bytes can be tried out.`);
  const hex = text.replace(/0x/gi, '').replace(/[\s:,-]/g, '');
  if (/^(?:[0-9a-f]{2})*$/i.test(hex)) return Buffer.from(hex, 'hex');
  const base64 = text.replace(/\s/g, '');
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64) && base64.replace(/={1,2}$/, '').length % 4 !== 1)
    return Buffer.from(base64, 'base64');
  throw badInput('uplink.bytes: neither hexadecimal (two digits for each byte) nor base64.');
}

/**
 * The request that a person typed; without a path, the keys of a LORAWAN or PARTICLE product's message show its
 * network.
 */
export function typedRequest(product: ProductInfo, input: DecoderRequestInput): DecoderRequest {
  const network = product.deviceType === 'API' || input.path ? null : networkOfBody(input.body ?? '');
  return requestOfInput(network === null ? input : { ...input, path: pathOfNetwork(network) }, product.webhookId);
}

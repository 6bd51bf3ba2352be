import { AppError, notFound } from '../../errors.ts';
import { yieldForLarge } from '../../scheduling/yield-for-large.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { Access } from '../access/access.ts';
import type { UnknownDevices } from './unknown-devices.ts';
import { type Answer, asks200, type WebhookReceiver } from './webhook-receiver.ts';
import { pathOfNetwork, readNetworkCall } from '../networks/network-call.ts';
import { pause } from '../../scheduling/pause.ts';
import type { Network } from '../networks/network-event.ts';
import { must } from '../../must.ts';

const NOTHING: Answer = { status: 200, stored: 0, rejected: 0, body: '{"stored":0,"rejected":0}' };
const UNKNOWN: Answer = {
  status: 202,
  stored: 0,
  rejected: 0,
  body: '{"stored":0,"rejected":0,"error":"UNKNOWN_DEVICE"}',
};
const AMBIGUOUS: Answer = {
  ...UNKNOWN,
  body: '{"stored":0,"rejected":0,"error":"UNKNOWN_DEVICE","reason":"AMBIGUOUS_DEVICE"}',
};
const MAX_IDENTIFIER = 200;
/**
 * Retries to find a device that another node has just made, and the pause between them: it is known after a moment,
 * without Redis after 1.2 s.
 */
const [MOST_LOOKS, LOOK_AGAIN_MS] = [15, 100];

/**
 * Receives the messages of native networks (CONTRACT 6): finds the device by the network's identifier among those that
 * the token may record for, and logs the call with its product. A call is kept aside when its device is unknown, or
 * several may have sent it, as no network sends it again.
 */
export class NetworkReceiver {
  readonly #devices: DeviceFinder;
  readonly #receiver: WebhookReceiver;
  readonly #unknown: UnknownDevices;

  constructor(devices: DeviceFinder, receiver: WebhookReceiver, unknown: UnknownDevices) {
    this.#devices = devices;
    this.#receiver = receiver;
    this.#unknown = unknown;
  }

  /**
   * Receives a message. INVALID_JSON or INVALID_BODY when it is none of the network; FORBIDDEN or, for a token with
   * limits, NOT_FOUND for the device, as on the record endpoint. A message that is no uplink and names no device is
   * answered and dropped.
   */
  async receive(whose: () => Promise<Access>, network: Network, request: DecoderRequest): Promise<Answer> {
    const access = await whose();
    const [workspaceId] = access.workspaceIdsWith('RECORD').sort();
    // Log every form of the URL as one path, from which replay reads the network.
    const call = { ...request, path: pathOfNetwork(network) };
    // Keep the text alone and parse it again when the decoder runs: many calls wait, and the parsed message takes fifty
    // times the memory.
    const { deviceIdentifier } = readNetworkCall(network, call);
    if (deviceIdentifier === null) return NOTHING;
    if (
      deviceIdentifier.length > MAX_IDENTIFIER ||
      !/^[^\0]*$/.test(deviceIdentifier) ||
      !deviceIdentifier.isWellFormed()
    )
      throw new AppError(
        'INVALID_BODY',
        `The identifier ${JSON.stringify(deviceIdentifier.slice(0, 50))} can be no device's.`,
      );
    for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
      if (looks > 0) await pause(LOOK_AGAIN_MS);
      const [known, ...others] = await this.#devices.forUplink(access, deviceIdentifier);
      // Yield after parsing a large body: many requests may have waited for the same look-up.
      await yieldForLarge(request.body.length, access);
      if (others.length > 0) {
        await this.#unknown.keep(must(known).workspaceId, network, deviceIdentifier, call, { isAmbiguous: true });
        return asks200(request) ? { ...AMBIGUOUS, status: 200 } : AMBIGUOUS;
      }
      if (known !== undefined)
        return this.#receiver.receive(async () => {
          const device = (await this.#devices.forUplink(await whose(), deviceIdentifier))[0];
          if (device === undefined) throw notFound('device', deviceIdentifier);
          return { product: device.product, native: { device } };
        }, call);
      // A token limited to some devices neither keeps calls aside for the workspace nor evicts any.
      if (access.limited) throw notFound('device', deviceIdentifier);
      // A person's token may see several workspaces: the oldest keeps the call (ids are in order of time).
      if (await this.#unknown.keep(workspaceId as string, network, deviceIdentifier, call))
        return asks200(request) ? { ...UNKNOWN, status: 200 } : UNKNOWN;
    }
    throw new AppError('OVERLOADED', 'This device is just being created; send its message again.', {
      details: { retryAfterSeconds: 1 },
    });
  }
}

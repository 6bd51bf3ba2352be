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
/** A device that another node has just made is known here after a moment; without Redis after 1.2 s. */
const [MOST_LOOKS, LOOK_AGAIN_MS] = [15, 100];

/**
 * Takes in what native networks send (CONTRACT 6): the device is found by the network's identifier among those that
 * the token may record for, and its product's log keeps the call. A call of an unknown device is kept aside, and so is one
 * that several devices may have sent: no network sends it again.
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
   * INVALID_JSON or INVALID_BODY for what is no message of the network; FORBIDDEN or, of a token with limits, NOT_FOUND
   * for the device, as on the record endpoint. A message of another kind than an uplink that names no device is answered and forgotten:
   * there is nothing to find it by.
   */
  async receive(whose: () => Promise<Access>, network: Network, request: DecoderRequest): Promise<Answer> {
    const access = await whose();
    const [workspaceId] = access.workspaceIdsWith('RECORD').sort();
    // Every sub-form of the URL is logged as one path: replay reads the network off it.
    const call = { ...request, path: pathOfNetwork(network) };
    // What it says is read again when its decoder may run: parsed it takes fifty times its text, and many wait.
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
      // Reading a megabyte of JSON takes as long as deciding what becomes of it. Many may have waited for the same look-up.
      await yieldForLarge(request.body.length, access);
      if (others.length > 0) {
        await this.#unknown.keep(known!.workspaceId, network, deviceIdentifier, call, { isAmbiguous: true });
        return asks200(request) ? { ...AMBIGUOUS, status: 200 } : AMBIGUOUS;
      }
      if (known !== undefined)
        return this.#receiver.receive(async () => {
          const device = (await this.#devices.forUplink(await whose(), deviceIdentifier))[0];
          if (device === undefined) throw notFound('device', deviceIdentifier);
          return { product: device.product, native: { device } };
        }, call);
      // Who may send for some devices only puts nothing aside for the workspace, and nothing out of it.
      if (access.limited) throw notFound('device', deviceIdentifier);
      // A person's token may see several workspaces: the oldest (ids are in order of time) is the one that keeps it.
      if (await this.#unknown.keep(workspaceId as string, network, deviceIdentifier, call))
        return asks200(request) ? { ...UNKNOWN, status: 200 } : UNKNOWN;
    }
    throw new AppError('OVERLOADED', 'This device is just being created; send its message again.', {
      details: { retryAfterSeconds: 1 },
    });
  }
}

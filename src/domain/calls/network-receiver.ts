import { AppError } from '../../errors.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { Access } from '../access/access.ts';
import type { Answer, WebhookReceiver } from './webhook-receiver.ts';
import { pathOfNetwork, readNetworkCall } from '../networks/network-call.ts';
import type { Network } from '../networks/network-event.ts';

const NOTHING: Answer = { status: 200, body: '{"stored":0,"rejected":0}' };

/**
 * Takes in what native networks send (CONTRACT 6): the device is found by the network's identifier among those that
 * the token may record for, and its product's log keeps the call.
 */
export class NetworkReceiver {
  readonly #devices: DeviceFinder;
  readonly #receiver: WebhookReceiver;

  constructor(devices: DeviceFinder, receiver: WebhookReceiver) {
    this.#devices = devices;
    this.#receiver = receiver;
  }

  /**
   * INVALID_JSON or INVALID_BODY for what is no message of the network; FORBIDDEN, NOT_FOUND or AMBIGUOUS_DEVICE for
   * the device, as on the record endpoint. A message of another kind than an uplink that names no device is answered
   * and forgotten: there is no product to log it for.
   */
  async receive(access: Access, network: Network, request: DecoderRequest): Promise<Answer> {
    // Every sub-form of the URL is logged as one path: replay reads the network off it.
    const call = { ...request, path: pathOfNetwork(network) };
    const event = readNetworkCall(network, call);
    if (event.deviceIdentifier === null) {
      access.workspaceIdsWith('RECORD');
      return NOTHING;
    }
    const device = await this.#deviceOf(access, event.deviceIdentifier);
    return this.#receiver.receive(device.product, call, { event, device });
  }

  async #deviceOf(access: Access, identifier: string): Promise<DeviceInfo> {
    try {
      return await this.#devices.forUplink(access, identifier);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      const shown = identifier.slice(0, 100);
      throw new AppError(
        'NOT_FOUND',
        `No device that this token sees has the serial number "${shown}"; create one with the network's identifier as its serial number.`,
      );
    }
  }
}

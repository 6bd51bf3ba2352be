import { badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { DeviceList } from '../devices/device-list.ts';
import type { Asker } from '../devices/device-scan.ts';
import type { Device } from '../entities/device.ts';
import type { DeviceInfo, IngestCache } from '../ingest-cache/ingest-cache.ts';
import { seenDevice } from '../ingest-cache/seen-fields.ts';
import { must } from '../../must.ts';

/** Maximum devices per history. */
export const MAX_DEVICES = 200;

/** Exactly one of the three. */
interface Chosen {
  deviceIds?: readonly string[] | null | undefined;
  productId?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
}

/** A device as the transports show it, and as histories read it: with the fields that the token sees. */
interface ChosenDevice {
  device: Device;
  info: DeviceInfo;
}

/** Chooses the devices for a history of many. */
export class DeviceChoice {
  readonly #ingestCache: IngestCache;
  readonly #list: DeviceList;

  constructor(ingestCache: IngestCache, list: DeviceList) {
    this.#ingestCache = ingestCache;
    this.#list = list;
  }

  /**
   * The devices with these ids, in that order, or all of a product, or all with these tags, in the order of creation.
   * NOT_FOUND for an id that the token does not see; BAD_USER_INPUT for more than 200 devices.
   */
  async choose(access: Access, { deviceIds, productId, tags }: Chosen, asker?: Asker): Promise<ChosenDevice[]> {
    const ways = [deviceIds, productId, tags].filter((way) => way != null).length;
    if (ways !== 1) throw badInput('Choose devices in exactly one way: "deviceIds", "productId" or "tags".');
    if (deviceIds != null) return this.#byId(access, deviceIds, asker);
    if (tags?.length === 0) throw badInput('"tags": name at least one tag.');
    const devices = await this.#page(access, { productId, tags }, asker);
    const infos = await Promise.all(devices.map(({ id }) => this.#ingestCache.device(id)));
    // Leave out devices that were deleted in between.
    return devices.flatMap((device, i) => (infos[i] ? [{ device, info: seenDevice(access, infos[i]) }] : []));
  }

  async #byId(access: Access, deviceIds: readonly string[], asker?: Asker): Promise<ChosenDevice[]> {
    const ids = [...new Set(deviceIds.map((id) => id.toLowerCase()))];
    if (ids.length > MAX_DEVICES) throw badInput(`"deviceIds": at most ${MAX_DEVICES}, not ${ids.length}.`);
    const infos = await Promise.all(ids.map((id) => this.#ingestCache.device(id)));
    infos.forEach((info, i) => {
      if (info === null) throw notFound('device', must(ids[i]));
      access.requireDevice(info, 'READ');
    });
    const found = ids.length === 0 ? [] : await this.#page(access, { ids }, asker);
    const devices = new Map(found.map((device) => [device.id, device]));
    return ids.map((id, i) => {
      const device = devices.get(id);
      if (device === undefined) throw notFound('device', id);
      return { device, info: seenDevice(access, must(infos[i])) };
    });
  }

  async #page(
    access: Access,
    filter: Pick<Chosen, 'productId' | 'tags'> & { ids?: readonly string[] },
    asker?: Asker,
  ): Promise<Device[]> {
    const query = { ...filter, orderBy: 'CREATED', descending: false, limit: MAX_DEVICES } as const;
    const { items, hasNextPage } = await this.#list.page(access, query, asker);
    if (hasNextPage) throw badInput(`These are more than ${MAX_DEVICES} devices: choose some of them by "deviceIds".`);
    return items.map(({ device }) => device);
  }
}

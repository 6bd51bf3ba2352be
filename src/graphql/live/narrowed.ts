import type { Access, DevicePlace } from '../../domain/access/access.ts';
import type { IngestCache, ProductInfo } from '../../domain/ingest-cache/ingest-cache.ts';
import { seenDevice } from '../../domain/ingest-cache/seen-fields.ts';
import { visibleProduct } from '../../domain/ingest-cache/visible-product.ts';
import { badInput, notFound } from '../../errors.ts';

const MAX_NARROWED = 1000;

/** Narrowing by devices, a product or a workspace: all given must hold. */
export interface LiveChoice {
  deviceIds?: string[] | null;
  productId?: string | null;
  workspaceId?: string | null;
}

/** Extent of a subscription: the workspaces it can concern, the products where known, and the final check. */
interface Narrowed {
  workspaceIds: string[];
  /** Empty: any. */
  products: ProductInfo[];
  /** Keys of the devices that were named; null: any. */
  deviceKeys: ReadonlySet<number> | null;
  accepts: (device: DevicePlace) => boolean;
}

/** NOT_FOUND for a device, product or workspace that the token does not see; FORBIDDEN without scope READ. */
export async function narrowed(access: Access, ingestCache: IngestCache, choice: LiveChoice): Promise<Narrowed> {
  const { workspaceId, productId, deviceIds } = choice;
  if (workspaceId != null) access.requireWorkspace(workspaceId, 'READ');
  const readable = access.workspaceIdsWith('READ');
  const product = productId == null ? null : await visibleProduct(ingestCache, access, productId, 'READ');
  const devices = deviceIds == null ? null : await visibleDevices(access, ingestCache, deviceIds);
  const ids = devices && new Set(devices.map(({ id }) => id));
  return {
    workspaceIds: workspaceId != null ? [workspaceId] : product !== null ? [product.workspaceId] : readable,
    products: product !== null ? [product] : [...new Set((devices ?? []).map((device) => device.product))],
    deviceKeys: devices && new Set(devices.map(({ key }) => key)),
    accepts: (device) =>
      (workspaceId == null || device.workspaceId === workspaceId) &&
      (product === null || device.productId === product.id) &&
      (ids === null || ids.has(device.id)) &&
      access.may(device.workspaceId, 'READ') &&
      access.coversDevice(device),
  };
}

async function visibleDevices(access: Access, ingestCache: IngestCache, ids: string[]) {
  if (ids.length === 0 || ids.length > MAX_NARROWED)
    throw badInput(`"deviceIds" must name 1 to ${MAX_NARROWED} devices, not ${ids.length}; leave it out for all.`);
  return Promise.all(
    ids.map(async (id) => {
      const device = await ingestCache.device(id);
      if (device === null) throw notFound('device', id);
      access.requireDevice(device, 'READ');
      return seenDevice(access, device);
    }),
  );
}

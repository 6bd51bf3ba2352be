import type { EntityManager } from '@mikro-orm/sql';
import { notFound } from '../../errors.ts';
import type { Access, DevicePlace } from './access.ts';
import type { TokenScope } from '../entities/token.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { must } from '../../must.ts';

const SLICE = 500;
const UUID_LENGTH = 36;

/** The place of a device row, for `Access`; its product and workspace need not be loaded. */
export function placeOfDevice(device: Pick<Device, 'id' | 'product' | 'workspace'>): DevicePlace {
  return { id: device.id, productId: device.product.id, workspaceId: device.workspace.id };
}

/** The device with its product loaded, when the token has the scope for it; NOT_FOUND or FORBIDDEN else. */
export async function findDevice(em: EntityManager, access: Access, id: string, scope: TokenScope): Promise<Device> {
  const device = id.includes('\0')
    ? null
    : ((await em.findOne(DeviceSchema, { id: id.toLowerCase() }, { populate: ['product'] })) as Device | null);
  if (device === null) throw notFound('device', id);
  access.requireDevice(placeOfDevice(device), scope);
  return device;
}

/** The columns of a device that deletion needs. */
interface DeviceKey extends DevicePlace {
  key: number;
}

/**
 * The keys of all these devices, unordered and without duplicates, or the error of the first that is missing or not
 * allowed. Reads plain rows in slices: thousands of entities would block the event loop.
 */
export async function findDeviceKeys(
  em: EntityManager,
  access: Access,
  ids: readonly string[],
  scope: TokenScope,
): Promise<DeviceKey[]> {
  const found = new Map<string, DeviceKey>();
  for (let at = 0; at < ids.length; at += SLICE) {
    const wanted = ids.slice(at, at + SLICE).map((id) => id.toLowerCase());
    const storable = wanted.filter((id) => id.length === UUID_LENGTH && !id.includes('\0'));
    const places = storable.map(() => '?').join(', ');
    const rows = await em.execute<DeviceKey[]>(
      'select device.key, device.id, device.workspace_id as "workspaceId", product.id as "productId" from device ' +
        `join product on product.key = device.product_key where device.id in (${places || 'null'})`,
      storable,
    );
    for (const row of rows) found.set(row.id, row);
    for (const [index, id] of wanted.entries()) {
      const device = found.get(id);
      if (device === undefined) throw notFound('device', must(ids[at + index]));
      access.requireDevice(device, scope);
    }
    await yieldToEventLoop();
  }
  return [...found.values()];
}

import type { EntityManager } from '@mikro-orm/core';
import { notFound } from '../../errors.ts';
import type { Access, DevicePlace } from './access.ts';
import type { TokenScope } from '../entities/token.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';

/** Where a device row belongs, for `Access`; its product and workspace need not be loaded. */
export function placeOfDevice(device: Pick<Device, 'id' | 'product' | 'workspace'>): DevicePlace {
  return { id: device.id, productId: device.product.id, workspaceId: device.workspace.id };
}

/** The device with its product loaded, when the token has the scope for it; NOT_FOUND or FORBIDDEN else. */
export async function findDevice(em: EntityManager, access: Access, id: string, scope: TokenScope): Promise<Device> {
  const [device] = await findDevices(em, access, [id], scope);
  if (device === undefined) throw notFound('device', id);
  return device;
}

/** All of them, in no order, or the error of the first that is not there or not allowed. */
export async function findDevices(
  em: EntityManager,
  access: Access,
  ids: readonly string[],
  scope: TokenScope,
): Promise<Device[]> {
  const wanted = [...new Set(ids.map((id) => id.toLowerCase()))].filter((id) => !id.includes('\0'));
  const devices = (await em.find(DeviceSchema, { id: { $in: wanted } }, { populate: ['product'] })) as Device[];
  const byId = new Map(devices.map((device) => [device.id, device]));
  for (const id of ids) {
    const device = byId.get(id.toLowerCase());
    if (device === undefined) throw notFound('device', id);
    access.requireDevice(placeOfDevice(device), scope);
  }
  return devices;
}

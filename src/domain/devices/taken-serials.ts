import type { EntityManager } from '@mikro-orm/core';
import { conflict } from '../../errors.ts';
import type { DeviceType, Product } from '../entities/product.ts';
import { networkIdentity } from '../networks/network-identity.ts';
import { nextTurn } from '../give-way.ts';
import { DeviceSchema } from '../entities/device.ts';

const CHUNK = 500;

/** How serial numbers of the product are compared: networks write their EUIs in many ways (CONTRACT 6). */
export function serialIdentity(deviceType: DeviceType, serial: string): string {
  return deviceType === 'API' ? serial : networkIdentity(serial);
}

/**
 * CONFLICT naming the first serial number that comes twice in the list or belongs to a device of the product already.
 * `pathOf` says where the caller finds it. The product must be locked.
 */
export async function requireFreeSerials(
  em: EntityManager,
  product: Product,
  serials: readonly string[],
  pathOf: (index: number) => string,
): Promise<void> {
  const indexes = new Map<string, number>();
  serials.forEach((serial, index) => {
    const identity = serialIdentity(product.deviceType, serial);
    const first = indexes.get(identity);
    if (first !== undefined) throw conflict(`${pathOf(index)}: "${serial}" is also that of ${pathOf(first)}.`);
    indexes.set(identity, index);
  });
  // An index has the one by product, the other by workspace.
  const [column, workspace] =
    product.deviceType === 'API' ? ['serialNumber', {}] : ['serialFolded', { workspace: product.workspace.id }];
  const identities = [...indexes.keys()];
  for (let start = 0; start < identities.length; start += CHUNK) {
    const where = { ...workspace, product: product.key, [column]: { $in: identities.slice(start, start + CHUNK) } };
    const [taken] = await em.find(DeviceSchema, where, { fields: ['serialNumber'], limit: 1 });
    if (taken === undefined) {
      if (start + CHUNK < identities.length) await nextTurn();
      continue;
    }
    const index = indexes.get(serialIdentity(product.deviceType, taken.serialNumber)) ?? start;
    throw conflict(`${pathOf(index)}: a device of the product already has the serial number "${taken.serialNumber}".`);
  }
}

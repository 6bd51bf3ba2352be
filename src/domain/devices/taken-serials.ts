import type { EntityManager } from '@mikro-orm/sql';
import { conflict } from '../../errors.ts';
import type { Dialect } from '../database.ts';
import type { DeviceType, Product } from '../entities/product.ts';
import { networkIdentity } from '../networks/network-identity.ts';
import { TransactionSlices } from '../give-way.ts';
import { rowsOf } from '../json-rows.ts';

/** Looked for beside 100,000 devices they take SQLite some milliseconds. */
const AT_ONCE = 1_000;

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
  dialect: Dialect,
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
  const [column, place, keys] =
    product.deviceType === 'API'
      ? ['serial_number', 'product_key = ?', [product.key]]
      : ['serial_folded', 'workspace_id = ? and product_key = ?', [product.workspace.id, product.key]];
  // One by one: as a join PostgreSQL reads all devices of a product that it has not analyzed yet.
  const look = `select serial_number from device where ${place} and ${column} = value->>0 limit 1`;
  const looked = `select (${look}) as taken from ${rowsOf(dialect)}`;
  const statement = `select taken from (${looked}) as looked where taken is not null limit 1`;
  const turns = new TransactionSlices();
  const identities = [...indexes.keys()];
  for (let start = 0; start < identities.length; start += AT_ONCE) {
    const asked = JSON.stringify(identities.slice(start, start + AT_ONCE).map((identity) => [identity]));
    const [first] = await em.execute<{ taken: string }[]>(statement, [...keys, asked]);
    if (first !== undefined) {
      const index = indexes.get(serialIdentity(product.deviceType, first.taken)) ?? start;
      throw conflict(`${pathOf(index)}: a device of the product already has the serial number "${first.taken}".`);
    }
    await turns.next();
  }
}

import type { EntityManager } from '@mikro-orm/sql';
import { type AppError, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Dialect } from '../ports/database.ts';
import type { ProductKeys } from './device-rows.ts';
import { deviceIdentity, isNetworkIdentity } from '../text/device-identity.ts';
import type { Product } from '../entities/product.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { must } from '../../must.ts';

/** Serial numbers per statement. */
const AT_ONCE = 1_000;

/** A device that has a serial number already. */
interface Holder {
  id: string;
  name: string;
  serialNumber: string;
  productId: string;
  product: string;
}

interface Wanted {
  serials: readonly string[];
  /** Path of each number in the caller's input. */
  pathOf: (index: number) => string;
  /** The access that learns which device has a number; null: it sees that device. */
  asker: Access | null;
  /** Key of the device that gets the number, and may have it already. */
  own?: number;
}

/**
 * CONFLICT naming the first serial number that comes twice in the list, or the device and product that have it already.
 * Lock the product first (see `takenSerials`).
 */
export async function requireFreeSerials(
  em: EntityManager,
  dialect: Dialect,
  product: Product,
  { serials, pathOf, asker, own }: Wanted,
): Promise<void> {
  const indexes = distinctIdentities(serials, pathOf);
  const taken = await takenSerials(em, dialect, product, [...indexes.keys()], own);
  for (const [identity, index] of indexes) {
    const key = taken.get(identity);
    if (key === undefined) continue;
    throw serialTaken(await holderOf(em, key), product, { serial: must(serials[index]), path: pathOf(index), asker });
  }
}

/** Identity → index; CONFLICT naming the first serial number that comes twice. */
export function distinctIdentities(
  serials: readonly string[],
  pathOf: (index: number) => string,
): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  serials.forEach((serial, index) => {
    const identity = deviceIdentity(serial);
    const first = indexes.get(identity);
    if (first !== undefined) throw conflict(`${pathOf(index)}: "${serial}" is also that of ${pathOf(first)}.`);
    indexes.set(identity, index);
  });
  return indexes;
}

/**
 * Identity → key of the device that has it already: an EUI or core id in the whole workspace, in products of every
 * type, any other in the product (CONTRACT 6). With an EUI or core id among them this locks the workspace until the
 * transaction ends, unless `lock` is false: lock the product first.
 */
export async function takenSerials(
  em: EntityManager,
  dialect: Dialect,
  product: ProductKeys,
  identities: readonly string[],
  own = -1,
  lock = true,
): Promise<ReadonlyMap<string, number>> {
  const taken = new Map<string, number>();
  const ofNetworks = identities.filter(isNetworkIdentity);
  if (ofNetworks.length > 0 && lock) await lockWorkspace(em, product.workspace.id);
  // Each column has an index.
  const inProduct = { where: 'd.product_key = ? and d.serial_number', place: product.key };
  const inWorkspace = { where: 'd.workspace_id = ? and d.serial_folded', place: product.workspace.id };
  const others = identities.filter((identity) => !isNetworkIdentity(identity));
  for (const { where, place, among } of [
    { ...inProduct, among: others },
    { ...inWorkspace, among: ofNetworks },
  ]) {
    // Look up one by one: with a join PostgreSQL reads all devices of a product that it has not analyzed yet. Those of
    // the product first: several devices may share an identity since before that was refused.
    const look =
      `select d."key" from device d join product p on p."key" = d.product_key and p.deleted_at is null ` +
      `where ${where} = value->>0 and d."key" <> ? order by d.product_key <> ?, d."key" limit 1`;
    const looked = `select value->>0 as identity, (${look}) as taken from ${rowsOf(dialect)}`;
    const statement = `select identity, taken from (${looked}) as looked where taken is not null`;
    const turns = new TransactionSlices();
    for (let start = 0; start < among.length; start += AT_ONCE) {
      const asked = JSON.stringify(among.slice(start, start + AT_ONCE).map((identity) => [identity]));
      const values = [place, own, product.key, asked];
      const rows = await em.execute<{ identity: string; taken: number }[]>(statement, values);
      for (const { identity, taken: key } of rows) taken.set(identity, key);
      await turns.next();
    }
  }
  return taken;
}

/** CONFLICT for a serial number that `holder` has; the holder is named to those who may see it. */
export function serialTaken(
  { id, name, serialNumber, productId, product }: Holder,
  { workspace }: Product,
  { serial, path, asker }: { serial: string; path: string; asker: Access | null },
): AppError {
  const isSeen = asker === null || asker.coversDevice({ id, productId, workspaceId: workspace.id });
  if (!isSeen) return conflict(`${path}: another device of the workspace already has the serial number "${serial}".`);
  const spelled = serial === serialNumber ? '' : `, written "${serialNumber}"`;
  const whose = `the device "${name}" of the product "${product}"`;
  return conflict(`${path}: ${whose} already has the serial number "${serial}"${spelled}.`, { existingId: id });
}

async function holderOf(em: EntityManager, key: number): Promise<Holder> {
  const [holder] = await em.execute<Holder[]>(
    'select d.id, d.name, d.serial_number as "serialNumber", p.id as "productId", p.name as product ' +
      'from device d join product p on p."key" = d.product_key where d."key" = ?',
    [key],
  );
  return must(holder);
}

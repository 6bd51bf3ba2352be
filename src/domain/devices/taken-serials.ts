import type { EntityManager } from '@mikro-orm/sql';
import { conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Dialect } from '../ports/database.ts';
import { deviceIdentity, isNetworkIdentity } from '../text/device-identity.ts';
import type { Product } from '../entities/product.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';

/** Serial numbers per statement. */
const AT_ONCE = 1_000;

interface Wanted {
  serials: readonly string[];
  /** Path of each number in the caller's input. */
  pathOf: (index: number) => string;
  /** The access that learns which device has a number; null: it sees that device. */
  asker: Access | null;
  /** Key of the device that gets the number, and may have it already. */
  own?: number;
}

interface Taken {
  key: number;
  id: string;
  name: string;
  serialNumber: string;
  productId: string;
  product: string;
}

/**
 * CONFLICT naming the first serial number that comes twice in the list, or the device and product that have it already:
 * an EUI or core id in the whole workspace, in products of every type, any other in the product (CONTRACT 6). Lock the
 * product first; with an EUI or core id among them this locks the workspace, too, until the transaction ends.
 */
export async function requireFreeSerials(
  em: EntityManager,
  dialect: Dialect,
  product: Product,
  wanted: Wanted,
): Promise<void> {
  const { serials, pathOf } = wanted;
  const indexes = new Map<string, number>();
  serials.forEach((serial, index) => {
    const identity = deviceIdentity(serial);
    const first = indexes.get(identity);
    if (first !== undefined) throw conflict(`${pathOf(index)}: "${serial}" is also that of ${pathOf(first)}.`);
    indexes.set(identity, index);
  });
  const identities = [...indexes.keys()];
  const ofNetworks = identities.filter(isNetworkIdentity);
  if (ofNetworks.length > 0) await lockWorkspace(em, product.workspace.id);
  // Each column has an index.
  const inProduct = { where: 'd.product_key = ? and d.serial_number', place: product.key };
  const inWorkspace = { where: 'd.workspace_id = ? and d.serial_folded', place: product.workspace.id };
  const others = identities.filter((identity) => !isNetworkIdentity(identity));
  for (const { where, place, among } of [
    { ...inProduct, among: others },
    { ...inWorkspace, among: ofNetworks },
  ]) {
    // Look up one by one: with a join PostgreSQL reads all devices of a product that it has not analyzed yet.
    const look =
      `select d."key" from device d join product p on p."key" = d.product_key and p.deleted_at is null ` +
      `where ${where} = value->>0 and d."key" <> ? limit 1`;
    const looked = `select (${look}) as taken from ${rowsOf(dialect)}`;
    const statement = `select taken from (${looked}) as looked where taken is not null limit 1`;
    const turns = new TransactionSlices();
    for (let start = 0; start < among.length; start += AT_ONCE) {
      const asked = JSON.stringify(among.slice(start, start + AT_ONCE).map((identity) => [identity]));
      const [first] = await em.execute<{ taken: number }[]>(statement, [place, wanted.own ?? -1, asked]);
      if (first !== undefined) throw await isTaken(em, product, wanted, indexes, first.taken);
      await turns.next();
    }
  }
}

async function isTaken(
  em: EntityManager,
  { workspace }: Product,
  { serials, pathOf, asker }: Wanted,
  indexes: ReadonlyMap<string, number>,
  key: number,
): Promise<Error> {
  const [taken] = await em.execute<Taken[]>(
    'select d.id, d.name, d.serial_number as "serialNumber", p.id as "productId", p.name as product ' +
      'from device d join product p on p."key" = d.product_key where d."key" = ?',
    [key],
  );
  const { id, name, serialNumber, productId, product } = taken!;
  const index = indexes.get(deviceIdentity(serialNumber)) ?? 0;
  const isSeen = asker === null || asker.coversDevice({ id, productId, workspaceId: workspace.id });
  const whose = isSeen ? `the device "${name}" of the product "${product}"` : 'another device of the workspace';
  const spelled = serials[index] === serialNumber ? '' : `, written "${isSeen ? serialNumber : serials[index]}"`;
  return conflict(
    `${pathOf(index)}: ${whose} already has the serial number "${serials[index]}"${isSeen ? spelled : ''}.`,
  );
}

import { type EntityManager, LockMode } from '@mikro-orm/sql';
import { AppError, badInput, conflict, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice } from '../access/find-device.ts';
import { findProduct, placeOfProduct } from '../access/find-product.ts';
import { ConfigurationFieldSchema } from '../entities/configuration-field.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { FieldSchema } from '../entities/field.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore, Piece } from '../ports/store.ts';
import { type FieldPairs, type FieldWish, pairFields } from './field-pairs.ts';
import { freshKeys, noteMoved, readRows, storedKeyOf, writeRows } from './moved-rows.ts';
import { must } from '../../must.ts';

/** The latest time that a value may have, in ms UTC. */
const LATEST = 8.64e15;

/** The product that a device is to move to, and how its fields go on there. */
export interface MoveWish {
  productId: string;
  fields: readonly FieldWish[];
  /** Prefix of the two in the paths of the caller's input. */
  path: '' | 'input.';
}

/** The effect of a move on a device's history and configuration; fields by identifier. */
export interface ProductChange {
  productId: string;
  product: string;
  fields: { from: string; to: string }[];
  /** Fields with values that go, and how many. */
  dropped: { field: string; measurements: number }[];
  measurements: number;
  /** Configuration fields whose values of the device go. */
  configuration: string[];
}

/** A move that every node is prepared for, to be carried out in the transaction of the change. */
export interface PreparedMove {
  wish: MoveWish;
  /** Key of the product that the device leaves. */
  from: number;
  /** Key of a field of the new product → key in the store. */
  keys: ReadonlyMap<number, number>;
  /** The fields that go on, as `pairsText` writes them. */
  pairs: string;
}

interface Looked extends FieldPairs {
  device: Device;
  source: Product;
  target: Product;
  /** Keys of all fields of the target. */
  targetKeys: number[];
  /** The device's values there: key of a configuration field → value. */
  configuration: Record<string, unknown>;
  /** Identifiers of configuration fields whose values go. */
  unset: string[];
}

interface DeviceMovesDeps {
  /** Not under audit: the entry is written with the change itself. */
  database: Database;
  cluster: Cluster;
  store: Pick<MeasurementStore, 'remove'>;
}

/**
 * Moves a device to another product of its workspace, with its history (see `StoredKeys`). First the keys of the new
 * product's fields are written down and read by every node, which changes nothing yet; then one transaction moves the
 * device. A process that ends in between leaves the device as it was.
 */
export class DeviceMoves {
  readonly #deps: DeviceMovesDeps;

  constructor(deps: DeviceMovesDeps) {
    this.#deps = deps;
  }

  /** The effect of a move; needs CONFIGURE for both products as a whole. `piece` schedules the counting. */
  async preview(access: Access, id: string, wish: MoveWish, piece: Piece): Promise<ProductChange> {
    const { database, store } = this.#deps;
    const { device, target, pairs, dropped, unset } = await this.#look(database.read(), access, id, wish, false);
    const { key: deviceKey } = device;
    const count = (fieldKeys: number[]): Promise<number> =>
      store.remove({ deviceKey, fieldKeys, from: 0, to: LATEST, dryRun: true }, piece);
    const lost: ProductChange['dropped'] = [];
    const measurements = dropped.length === 0 ? 0 : await count(dropped.map(({ key }) => key));
    if (measurements > 0)
      for (const { key, identifier } of dropped) {
        const some = await count([key]);
        if (some > 0) lost.push({ field: identifier, measurements: some });
      }
    return {
      productId: target.id,
      product: target.name,
      fields: pairs.map(({ from, to }) => ({ from: from.identifier, to: to.identifier })),
      dropped: lost,
      measurements,
      configuration: unset,
    };
  }

  /**
   * Prepares every node for the move; null: the device is there already. CONFLICT with the number of values that would
   * go, unless that is confirmed.
   */
  async prepare(
    access: Access,
    id: string,
    wish: MoveWish,
    { isConfirmed, piece }: { isConfirmed: boolean; piece: Piece },
  ): Promise<PreparedMove | null> {
    const { database, cluster } = this.#deps;
    const found = await findDevice(database.read(), access, id, 'CONFIGURE');
    if (found.product.id === wish.productId.toLowerCase()) return null;
    if (!isConfirmed) requireConfirmation(await this.preview(access, id, wish, piece));
    const prepared = await database.write(async (em): Promise<PreparedMove> => {
      const { device, source, pairs, targetKeys } = await this.#look(em, access, id, wish, true);
      const rows = await readRows(em, device.key);
      const keys = new Map(pairs.map(({ from, to }) => [to.key, storedKeyOf(rows, from.key)]));
      const others = targetKeys.filter((key) => !keys.has(key));
      const isFirst = await noteMoved(em, device.key);
      // A device that was moved before may have values under the keys of these fields, or some that are being deleted.
      const fresh = isFirst ? others : await freshKeys(em, database.dialect, others.length);
      for (const [at, key] of others.entries()) keys.set(key, must(fresh[at]));
      await writeRows(em, device.key, keys);
      return { wish, from: source.key, keys, pairs: pairsText(pairs) };
    });
    await cluster.changed([{ kind: 'moved', id: found.id }]);
    return prepared;
  }

  /**
   * Moves the device, in the transaction of the change, and lists values that go on nowhere for deletion: call
   * `settlePurges` after the commit. CONFLICT when it or the fields have changed since the move was prepared.
   */
  async carryOut(em: EntityManager, access: Access, device: Device, move: PreparedMove): Promise<void> {
    const looked = await this.#look(em, access, device.id, move.wish, true);
    const { source, target, pairs, dropped, configuration } = looked;
    const rows = await readRows(em, device.key);
    const isAsPrepared =
      source.key === move.from &&
      pairsText(pairs) === move.pairs &&
      pairs.every(({ from, to }) => move.keys.get(to.key) === storedKeyOf(rows, from.key)) &&
      [...move.keys].every(([key, stored]) => storedKeyOf(rows, key) === stored);
    if (!isAsPrepared) throw conflict('input.productId: the device or its fields were changed meanwhile; try again.');
    // Also of fields that were removed and whose values are still to be listed.
    const removed = await em.execute<{ key: number }[]>(
      'select field_key as "key" from removed_field where product_key = ?',
      [source.key],
    );
    for (const { key } of [...dropped, ...removed])
      await em.execute(
        'insert into purge (device_key, field_key) values (?, ?)',
        [device.key, storedKeyOf(rows, key)],
        'run',
      );
    // Values that are still committed for a device that it has absorbed.
    const absorbed = await em.execute<{ key: number }[]>(
      'select device_key as "key" from absorbed_device where into_device_key = ?',
      [device.key],
    );
    for (const { key } of absorbed) {
      const own = await readRows(em, key);
      await writeRows(em, key, new Map(pairs.map((pair) => [pair.to.key, storedKeyOf(own, pair.from.key)])));
    }
    device.product = target;
    device.configuration = Object.keys(configuration).length === 0 ? null : configuration;
  }

  async #look(em: EntityManager, access: Access, id: string, wish: MoveWish, lock: boolean): Promise<Looked> {
    const found = await findDevice(em, access, id, 'CONFIGURE');
    const source = found.product;
    access.requireAllDevices(placeOfProduct(source));
    access.requireProduct(placeOfProduct(source), 'CONFIGURE');
    const target = await findProduct(em, access, wish.productId, 'CONFIGURE');
    if (target.key === source.key)
      throw badInput(`${wish.path}productId: the device is in this product already; choose another one.`);
    if (target.workspace.id !== found.workspace.id)
      throw badInput(`${wish.path}productId: a device moves to products of its own workspace only.`);
    if (lock) await hold(em, found, [source, target]);
    await em.populate(found, ['configuration']);
    const order = { orderBy: { key: 'asc' } } as const;
    const before = await em.find(FieldSchema, { product: source.key }, order);
    const after = await em.find(FieldSchema, { product: target.key }, order);
    const paired = pairFields(before, after, wish.fields, `${wish.path}fields`);
    const own = (found.configuration ?? {}) as Record<string, unknown>;
    const settings = await em.find(ConfigurationFieldSchema, { product: source.key }, order);
    const others = await em.find(ConfigurationFieldSchema, { product: target.key }, order);
    const configuration: Record<string, unknown> = {};
    const unset: string[] = [];
    for (const { key, identifier, type } of settings) {
      const value = own[key];
      if (value == null) continue;
      const same = others.find((other) => other.identifier === identifier && other.type === type);
      if (same === undefined) unset.push(identifier);
      else configuration[same.key] = value;
    }
    const targetKeys = after.map(({ key }) => key);
    return { device: found, source, target, targetKeys, ...paired, configuration, unset };
  }
}

/** Locks both products, in one order, and then the device; NOT_FOUND for what is gone or somewhere else by then. */
async function hold(em: EntityManager, device: Device, products: readonly [Product, Product]): Promise<void> {
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const [source] = products;
  const from = source.key;
  const where = { key: { $in: products.map(({ key }) => key) }, deletedAt: null };
  const held = await em.find(ProductSchema, where, { lockMode, orderBy: { key: 'asc' }, refresh: true });
  const gone = products.find(({ key }) => !held.some((product) => product.key === key));
  if (gone === source) throw notFound('device', device.id);
  if (gone !== undefined) throw notFound('product', gone.id);
  const present = await em.findOne(DeviceSchema, { key: device.key }, { lockMode, refresh: true });
  if (present === null) throw notFound('device', device.id);
  if (present.product.key !== from)
    throw conflict('input.productId: the device was moved to another product meanwhile; try again.');
}

function pairsText(pairs: FieldPairs['pairs']): string {
  return pairs.map(({ from, to }) => `${from.key} ${to.key}`).join(', ');
}

/** CONFLICT with the number of values that would go, if there are any. */
function requireConfirmation(change: ProductChange): void {
  const { productId, product, dropped, measurements, configuration } = change;
  if (measurements === 0 && configuration.length === 0) return;
  const lost = dropped.map(({ field, measurements: some }) => `"${field}" (${some})`).join(', ');
  const values = measurements === 1 ? '1 value' : `${measurements} values`;
  const ofFields = measurements === 0 ? '' : ` ${values} of this device would be deleted, of the fields ${lost}.`;
  const settings = configuration.map((identifier) => `"${identifier}"`).join(', ');
  const ofSettings = configuration.length === 0 ? '' : ` Its configuration of ${settings} would go.`;
  throw new AppError(
    'CONFLICT',
    `input.productId: not all of the device has a place in the product "${product}".${ofFields}${ofSettings} ` +
      'Say in "fields" which fields go on with them, or "confirm: true" to let them go.',
    { details: { productId, measurements, dropped, configuration } },
  );
}

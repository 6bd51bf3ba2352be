import { isDeepStrictEqual } from 'node:util';
import type { EntityManager } from '@mikro-orm/sql';
import { AppError, badInput, conflict } from '../../errors.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { Access } from '../access/access.ts';
import type { Device } from '../entities/device.ts';
import type { Product } from '../entities/product.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import type { PlanRoom } from '../plans/plan-room.ts';
import type { Dialect } from '../ports/database.ts';
import { longJsonPieces, type LongColumn, readLongJson } from '../sql/long-json.ts';
import { checkConfiguration, checkMetadata } from './device-input.ts';
import { deviceSearchText, keptMetadata, metadataText } from './device-search-text.ts';
import { toDevice } from './device-record.ts';
import { type PresentDevice, readPresent } from './present-devices.ts';
import { type ChangedRow, type DeviceRow, insertDevices, updateDevices } from './device-rows.ts';
import { type DeviceWish, type OnExisting, type PreparedWish, withKeys } from './device-wish.ts';
import { TagListType } from '../entities/tag-list.ts';
import { serialMistake } from './serial-mistake.ts';
import { serialTaken, takenSerials } from './taken-serials.ts';
import { must } from '../../must.ts';

/** The outcome of one wish, before anything is stored. */
export type Settled =
  | { kind: 'created'; row: DeviceRow; text: string }
  | { kind: 'updated'; present: PresentDevice; row: ChangedRow }
  | { kind: 'kept'; present: PresentDevice }
  | { kind: 'refused'; error: AppError };

interface Settling {
  em: EntityManager;
  dialect: Dialect;
  /** Locked, unless `readOnly`. */
  product: Product;
  onExisting: OnExisting;
  /** Path of the serial number of each wish, for messages. */
  pathOf: (index: number) => string;
  asker: Access;
  room: Pick<PlanRoom, 'take'>;
  atRisk: Pick<HistoryAtRisk, 'keepsLess'>;
  /** True: serial numbers as a network sends them, in any form. */
  areSent?: boolean;
  /** True: locks nothing. */
  readOnly?: boolean;
}

/** Long columns of the present devices that wishes change: key of the device → JSON text. */
type LongTexts = Record<LongColumn, ReadonlyMap<number, string>>;

/**
 * Decides of each wish whether it makes, changes or keeps a device of the product, or is refused, by its serial number.
 * The wishes have different identities. Takes room in plans in their order.
 */
export async function settleDevices(wishes: readonly PreparedWish[], how: Settling): Promise<Settled[]> {
  const { em, dialect, product, onExisting, readOnly = false } = how;
  const identities = wishes.map(({ identity }) => identity);
  const taken = await takenSerials(em, dialect, product, identities, undefined, !readOnly);
  const present = await readPresent(em, dialect, [...taken.values()], readOnly);
  const presentOf = ({ identity }: PreparedWish): PresentDevice | undefined => present.get(taken.get(identity) ?? -1);
  const changing = onExisting === 'UPDATE' ? wishes : [];
  const long = await readLong(how, changing, presentOf);
  const settled: Settled[] = [];
  const turns = new TransactionSlices();
  for (const [index, prepared] of wishes.entries()) {
    try {
      settled.push(await settle(prepared, presentOf(prepared), index, { ...how, long }));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      settled.push({ kind: 'refused', error });
    }
    await turns.next();
  }
  return settled;
}

async function settle(
  { wish, row, text }: PreparedWish,
  present: PresentDevice | undefined,
  index: number,
  { product, onExisting, pathOf, asker, room, atRisk, areSent, long }: Settling & { long: LongTexts },
): Promise<Settled> {
  if (present === undefined) {
    const mistake = areSent ? null : serialMistake(wish.serialNumber, product.deviceType);
    if (mistake !== null) throw badInput(`${pathOf(index)}: ${mistake}`);
    await room.take(row.plan);
    return { kind: 'created', row, text };
  }
  if (onExisting === 'FAIL' || present.product_key !== product.key) {
    const holder = {
      id: present.id,
      name: present.name,
      serialNumber: present.serial_number,
      productId: present.product_id,
      product: present.product_name,
    };
    throw serialTaken(holder, product, { serial: wish.serialNumber, path: pathOf(index), asker });
  }
  const changed = onExisting === 'KEEP' ? null : changedRow(wish, present, long);
  if (changed === null) return { kind: 'kept', present };
  if (changed.plan !== present.plan) {
    if (atRisk.keepsLess(present.plan, changed.plan))
      throw conflict(
        `plan: "${changed.plan}" keeps less history than "${present.plan}", on which the device "${present.name}" is: ` +
          'change it by updateDevice, which says what that would take.',
        { existingId: present.id },
      );
    await room.take(changed.plan);
  }
  return { kind: 'updated', present, row: changed };
}

/** Stores what was settled, in the same transaction; returns id → key of the new devices. */
export async function storeSettled(
  { em, dialect, product, createdAt }: Pick<Settling, 'em' | 'dialect' | 'product'> & { createdAt: number },
  settled: readonly Settled[],
): Promise<Map<string, number>> {
  const created = settled.filter((one) => one.kind === 'created').map(({ text }) => text);
  const changed = settled.filter((one) => one.kind === 'updated');
  const moved = changed.filter(({ row, present }) => row.plan !== present.plan).map(({ row }) => row.key);
  // The device goes on under a plan that keeps as much: whatever an earlier change gave it time for is over.
  if (moved.length > 0) await em.execute(`delete from retention_grace where device_key in (${moved.join(', ')})`);
  await updateDevices(
    em,
    dialect,
    changed.map(({ row }) => row),
  );
  return insertDevices(em, dialect, created, { product, createdAt });
}

/** The device after `storeSettled`, as a plain row like those that are read, without the weight of an entity. */
export function deviceAsSettled(
  settled: Settled,
  { product, createdAt, keys }: { product: Product; createdAt: number; keys: ReadonlyMap<string, number> },
): Device {
  if (settled.kind === 'refused') throw settled.error;
  if (settled.kind === 'created') {
    const { row } = settled;
    const shared = { product, workspace: product.workspace, createdAt, offlineAfterSeconds: null, writeRate: null };
    return { ...row, ...shared, key: must(keys.get(row.id)) } as Device;
  }
  const device = toDevice(settled.present, product);
  if (settled.kind === 'kept') return device;
  const { metadata: _, configuration: __, ...columns } = settled.row;
  return Object.assign(device, columns);
}

/** Devices whose long columns are read at once. */
const AT_ONCE = 500;

async function readLong(
  { em, dialect, product }: Settling,
  wishes: readonly PreparedWish[],
  presentOf: (wish: PreparedWish) => PresentDevice | undefined,
): Promise<LongTexts> {
  const read = async (column: LongColumn, isWanted: (wish: DeviceWish) => boolean): Promise<Map<number, string>> => {
    const keys = wishes
      .filter(({ wish }) => isWanted(wish))
      .flatMap((wish) => presentOf(wish) ?? [])
      .filter((device) => device.product_key === product.key)
      .map((device) => device.key);
    const texts = new Map<number, string>();
    const turns = new TransactionSlices();
    for (let at = 0; at < keys.length; at += AT_ONCE)
      for (const piece of await longJsonPieces(em, dialect, column, keys.slice(at, at + AT_ONCE))) {
        for (const [key, text] of await readLongJson(em, dialect, column, piece)) texts.set(key, text);
        await turns.next();
      }
    return texts;
  };
  return {
    metadata: await read('metadata', (wish) => wish.metadata !== undefined || wish.metadataKeys !== undefined),
    configuration: await read('configuration', (wish) => wish.configuration !== undefined),
  };
}

const TAGS = new TagListType();

/** The columns as the wish wants them; null: the device has them already. Its serial number stays as it is written. */
function changedRow(wish: DeviceWish, present: PresentDevice, long: LongTexts): ChangedRow | null {
  const tags = wish.tags ?? TAGS.convertToJSValue(present.tags);
  const name = wish.name ?? present.name;
  const plan = wish.plan ?? present.plan;
  const location = wish.location === undefined ? present.location : wish.location;
  const metadata = changedMetadata(wish, textOf(long.metadata, present));
  const configuration = changedConfiguration(wish, textOf(long.configuration, present));
  const isSame =
    name === present.name &&
    plan === present.plan &&
    location === present.location &&
    TAGS.convertToDatabaseValue(tags) === present.tags;
  if (isSame && metadata === undefined && configuration === undefined) return null;
  const searched = metadata === undefined ? keptMetadata(present.search_text) : metadataText(metadata);
  const searchText = deviceSearchText({ name, serialNumber: present.serial_number, location, tags }, searched);
  return { key: present.key, name, searchText, plan, tags, location, metadata, configuration };
}

function textOf(texts: ReadonlyMap<number, string>, { key }: PresentDevice): unknown {
  const text = texts.get(key);
  return text === undefined ? null : JSON.parse(text);
}

/** undefined: as it is. */
function changedMetadata({ metadata, metadataKeys }: DeviceWish, present: unknown): unknown {
  let wanted = metadata;
  if (metadataKeys !== undefined) {
    if (present !== null && (typeof present !== 'object' || Array.isArray(present)))
      throw badInput('metadata: that of the device is no object, so no key of it can be set; replace it first.');
    const merged = withKeys((present ?? {}) as Record<string, unknown>, metadataKeys);
    wanted = checkMetadata(merged, 'metadata');
  }
  return wanted === undefined || isDeepStrictEqual(wanted, present) ? undefined : wanted;
}

/** undefined: as it is. */
function changedConfiguration({ configuration }: DeviceWish, present: unknown) {
  if (configuration === undefined) return undefined;
  const own = (present ?? {}) as Record<string, unknown>;
  const wanted = withKeys(own, configuration);
  if (isDeepStrictEqual(wanted ?? {}, own)) return undefined;
  return wanted === null ? null : checkConfiguration(wanted, 'configuration');
}

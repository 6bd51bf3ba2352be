import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import type { Device } from '../entities/device.ts';
import { TagListType } from '../entities/tag-list.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { rowsOf } from '../sql/json-rows.ts';

/** Rows per statement, for a few milliseconds of the event loop. */
const SLICE = 500;
/** Devices deleted per statement, of up to 140 KB each (metadata, configuration, tags). */
const DELETED_AT_ONCE = 100;

/** The columns in which new devices differ. */
export type DeviceRow = Pick<
  Device,
  'id' | 'name' | 'serialNumber' | 'serialFolded' | 'searchText' | 'plan' | 'tags'
> & { location: string | null; metadata: unknown; configuration: Record<string, unknown> | null };

/** The columns that new devices share. */
/** Keys of a product, by which rows of devices name it. */
export interface ProductKeys {
  key: number;
  workspace: { id: string };
}

interface SharedColumns {
  product: ProductKeys;
  createdAt: number;
}

/** New columns of a device; `metadata` and `configuration` left out: as they are. */
export interface ChangedRow extends Pick<DeviceRow, 'name' | 'searchText' | 'plan' | 'tags' | 'location'> {
  key: number;
  metadata?: unknown;
  configuration?: Record<string, unknown> | null | undefined;
  /** Left out: as it is. */
  offlineAfterSeconds?: number | null | undefined;
}

/**
 * Ends the alerts of devices that are about to be deleted, in the transaction and before it locks any of them; call what
 * it resolves with after the commit.
 */
export type EndAlerts = (em: EntityManager, deviceKeys: readonly number[]) => Promise<() => void>;

const TAGS = new TagListType();

/** A new device as the JSON text of a list of its columns, for `insertDevices`. */
export function rowText(row: DeviceRow): string {
  return JSON.stringify([
    row.id,
    row.name,
    row.serialNumber,
    row.serialFolded,
    row.searchText,
    TAGS.convertToDatabaseValue(row.tags),
    row.location,
    jsonOf(row.metadata),
    row.plan,
    jsonOf(row.configuration),
  ]);
}

/**
 * Inserts devices, given by `rowText`, within the transaction of `em`; returns id → key. The database expands JSON texts
 * to many rows at once, a slice at a time: thousands of entities would hold the write turn and block the event loop.
 */
export async function insertDevices(
  em: EntityManager,
  dialect: Dialect,
  texts: readonly string[],
  { product, createdAt }: SharedColumns,
): Promise<Map<string, number>> {
  const statement =
    'insert into device (workspace_id, product_key, created_at, id, name, serial_number, serial_folded, search_text, ' +
    'tags, location, metadata, plan, configuration) select ?, ?, ?, value->>0, value->>1, value->>2, value->>3, ' +
    `value->>4, value->>5, value->>6, ${json(dialect, 7)}, value->>8, ${json(dialect, 9)} ` +
    `from ${rowsOf(dialect)} returning id, key`;
  const keys = new Map<string, number>();
  await inSlices(texts, async (slice) => {
    const values = [product.workspace.id, product.key, createdAt, `[${slice.join(',')}]`];
    const added = await em.execute<{ id: string; key: number }[]>(statement, values);
    for (const { id, key } of added) keys.set(id, key);
  });
  return keys;
}

/** Changes devices within the transaction of `em`, which holds them. */
export async function updateDevices(em: EntityManager, dialect: Dialect, rows: readonly ChangedRow[]): Promise<void> {
  const long = (column: string, at: number): string =>
    `${column} = case when value->>${at} = '' then device.${column} else ${json(dialect, at)} end`;
  const seconds = dialect === 'sqlite' ? 'value->>8' : "nullif(value->>8, '')::int";
  const statement =
    'update device set name = value->>1, search_text = value->>2, plan = value->>3, tags = value->>4, ' +
    `location = value->>5, ${long('metadata', 6)}, ${long('configuration', 7)}, ` +
    `offline_after_seconds = case when value->>8 = '' then device.offline_after_seconds else ${seconds} end ` +
    `from ${rowsOf(dialect)} where device."key" = ${dialect === 'sqlite' ? 'value->>0' : '(value->>0)::int'}`;
  await inSlices(rows, async (slice) => {
    const columns = slice.map(({ key, name, searchText, plan, tags, location, metadata, configuration, ...row }) => [
      key,
      name,
      searchText,
      plan,
      TAGS.convertToDatabaseValue(tags),
      location,
      metadata === undefined ? '' : jsonOf(metadata),
      configuration === undefined ? '' : jsonOf(configuration),
      row.offlineAfterSeconds === undefined ? '' : row.offlineAfterSeconds,
    ]);
    await em.execute(statement, [JSON.stringify(columns)], 'run');
  });
}

/** A column that is JSON text, or null, in the list of `rowsOf`. */
function json(dialect: Dialect, at: number): string {
  return dialect === 'sqlite' ? `value->>${at}` : `nullif(value->>${at}, '')::jsonb`;
}

function jsonOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

async function inSlices<Row>(rows: readonly Row[], work: (slice: readonly Row[]) => Promise<void>): Promise<void> {
  const turns = new TransactionSlices();
  for (let at = 0; at < rows.length; at += SLICE) {
    await work(rows.slice(at, at + SLICE));
    await turns.next();
  }
}

/**
 * Deletes devices and lists, in the same transaction, their values for deletion by the store: call `settlePurges` after
 * the commit. Returns the ids of those that existed.
 */
export async function deleteDeviceRows(
  em: EntityManager,
  dialect: Dialect,
  keys: readonly number[],
): Promise<string[]> {
  const ids: string[] = [];
  const turns = new TransactionSlices();
  // Lock in the common order: of two requests that delete the same devices, one waits for the other.
  const inOrder = keys.toSorted((one, other) => one - other);
  for (let at = 0; at < inOrder.length; at += DELETED_AT_ONCE) {
    const list = inOrder.slice(at, at + DELETED_AT_ONCE).join(', ');
    const held =
      dialect === 'postgres' ? `select key from device where key in (${list}) order by key for update` : list;
    await em.execute(
      `insert into purge (device_key, field_key) select key, null from device where key in (${list})`,
      [],
      'run',
    );
    for (const table of ['moved_field', 'moved_device'])
      await em.execute(`delete from ${table} where device_key in (${list})`, [], 'run');
    const gone = await em.execute<{ id: string }[]>(`delete from device where key in (${held}) returning id`);
    for (const { id } of gone) ids.push(id);
    // After the devices, in the order of the evaluator of rules.
    await em.execute(`delete from rule_state where device_key in (${list})`, [], 'run');
    await turns.next();
  }
  return ids;
}

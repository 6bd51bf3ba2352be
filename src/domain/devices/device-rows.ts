import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import type { Device } from '../entities/device.ts';
import type { Product } from '../entities/product.ts';
import { yieldToEventLoop, TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { rowsOf } from '../sql/json-rows.ts';

/** Rows per slice, for a few milliseconds of the event loop. */
const SLICE = 500;
/** Devices deleted per statement, of up to 140 KB each (metadata, configuration, tags). */
const DELETED_AT_ONCE = 100;

/** The columns in which new devices differ. */
export type DeviceRow = Pick<
  Device,
  'id' | 'name' | 'serialNumber' | 'serialFolded' | 'searchText' | 'tags' | 'metadata' | 'location'
>;

/** The columns that new devices share. */
export interface SharedColumns {
  product: Product;
  workspace: Product['workspace'];
  plan: string;
  createdAt: number;
}

/**
 * New devices as JSON texts that the database expands to many rows at once, a slice at a time: thousands of entities
 * would hold the write turn and block the event loop.
 */
export async function deviceSlices(rows: readonly DeviceRow[]): Promise<string[]> {
  const slices: string[] = [];
  for (let at = 0; at < rows.length; at += SLICE) {
    const columns = rows
      .slice(at, at + SLICE)
      .map((row) => [
        row.id,
        row.name,
        row.serialNumber,
        row.serialFolded,
        row.searchText,
        row.tags.length === 0 ? '' : `\n${row.tags.join('\n')}\n`,
        row.location,
        row.metadata === null ? null : JSON.stringify(row.metadata),
      ]);
    slices.push(JSON.stringify(columns));
    await yieldToEventLoop();
  }
  return slices;
}

/** Inserts the slices within the transaction of `em`; returns id → key. */
export async function insertDeviceSlices(
  em: EntityManager,
  dialect: Dialect,
  slices: readonly string[],
  { product, workspace, plan, createdAt }: SharedColumns,
): Promise<Map<string, number>> {
  const metadata = dialect === 'sqlite' ? 'value->>7' : '(value->>7)::jsonb';
  const statement =
    'insert into device (workspace_id, product_key, plan, created_at, id, name, serial_number, serial_folded, ' +
    'search_text, tags, location, metadata) select ?, ?, ?, ?, value->>0, value->>1, value->>2, value->>3, ' +
    `value->>4, value->>5, value->>6, ${metadata} from ${rowsOf(dialect)} returning id, key`;
  const keys = new Map<string, number>();
  const turns = new TransactionSlices();
  for (const slice of slices) {
    const shared = [workspace.id, product.key, plan, createdAt];
    const added = await em.execute<{ id: string; key: number }[]>(statement, [...shared, slice]);
    for (const { id, key } of added) keys.set(id, key);
    await turns.next();
  }
  return keys;
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
    const gone = await em.execute<{ id: string }[]>(`delete from device where key in (${held}) returning id`);
    for (const { id } of gone) ids.push(id);
    await turns.next();
  }
  return ids;
}

import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { must } from '../../must.ts';

/** Key of a field → key of its values in the store, for one moved device. */
type Rows = ReadonlyMap<number, number>;

/** Reads the rows of a device; empty: it was never moved. */
export async function readRows(em: EntityManager, deviceKey: number): Promise<Rows> {
  const sql = 'select field_key as "fieldKey", stored_key as "storedKey" from moved_field where device_key = ?';
  const rows = await em.execute<{ fieldKey: number; storedKey: number }[]>(sql, [deviceKey]);
  return new Map(rows.map(({ fieldKey, storedKey }) => [fieldKey, storedKey]));
}

/** The key under which the store has the values of a field of the device. */
export function storedKeyOf(rows: Rows, fieldKey: number): number {
  return rows.get(fieldKey) ?? fieldKey;
}

/** Writes rows in place of those that the fields have; a field with its own key has none. */
export async function writeRows(em: EntityManager, deviceKey: number, keys: Rows): Promise<void> {
  for (const [fieldKey, stored] of keys) {
    await em.execute('delete from moved_field where device_key = ? and field_key = ?', [deviceKey, fieldKey], 'run');
    if (stored === fieldKey) continue;
    const sql = 'insert into moved_field (device_key, field_key, stored_key) values (?, ?, ?)';
    await em.execute(sql, [deviceKey, fieldKey, stored], 'run');
  }
}

/** Notes that the device was moved; false: it was before. */
export async function noteMoved(em: EntityManager, deviceKey: number): Promise<boolean> {
  const sql = 'insert into moved_device (device_key) values (?) on conflict (device_key) do nothing';
  const { affectedRows } = await em.execute<{ affectedRows: number }>(sql, [deviceKey], 'run');
  return affectedRows === 1;
}

/** Takes keys that no field has or will have. */
export async function freshKeys(em: EntityManager, dialect: Dialect, count: number): Promise<number[]> {
  if (count === 0) return [];
  if (dialect === 'sqlite') {
    const sql = 'update sqlite_sequence set seq = seq + ? where name = ? returning seq';
    const [row] = await em.execute<{ seq: number }[]>(sql, [count, 'field']);
    return Array.from({ length: count }, (_, at) => must(row).seq - at);
  }
  const sql = `select cast(nextval(pg_get_serial_sequence('field', 'key')) as int) as "key" from generate_series(1, ?)`;
  const rows = await em.execute<{ key: number }[]>(sql, [count]);
  return rows.map(({ key }) => key);
}

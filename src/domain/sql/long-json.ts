import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { bytesSql, inPieces, jsonText, placeholders } from './long-columns.ts';

/** Bytes read at once: those of the longest value, or several shorter ones. */
const BYTES_AT_ONCE = 262_144;

/** A lazy JSON column: reading a device does not read it. */
export type LongColumn = 'metadata' | 'configuration';

/** Keys of the devices that have such a value, in pieces whose values may be read at once. */
export async function longJsonPieces(
  em: EntityManager,
  dialect: Dialect,
  column: LongColumn,
  keys: readonly number[],
): Promise<number[][]> {
  if (keys.length <= 1) return keys.map((key) => [key]);
  const rows = await em.execute<{ key: number; bytes: number | null }[]>(
    `select "key", ${bytesSql(dialect, column)} as bytes from device
     where ${column} is not null and "key" in (${placeholders(keys)})`,
    [...keys],
  );
  return inPieces(rows, BYTES_AT_ONCE).map((piece) => piece.map(({ key }) => key));
}

/** Key of a device → the JSON text of its value; devices without one are left out. */
export async function readLongJson(
  em: EntityManager,
  dialect: Dialect,
  column: LongColumn,
  keys: readonly number[],
): Promise<Map<number, string>> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = dialect === 'sqlite' ? column : `${column}::text`;
  const rows = await em.execute<{ key: number; value: unknown }[]>(
    `select "key", ${text} as value from device where ${column} is not null and "key" in (${placeholders(keys)})`,
    [...keys],
  );
  return new Map(rows.map(({ key, value }) => [key, jsonText(value)]));
}

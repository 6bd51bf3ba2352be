import type { Database } from '../database.ts';

/** Key of a device → the JSON text of its metadata; devices without are left out. */
export async function readMetadata(database: Database, keys: readonly number[]): Promise<Map<number, string>> {
  // SQLite keeps JSON as text; of PostgreSQL the driver would parse it.
  const text = database.dialect === 'sqlite' ? 'metadata' : 'metadata::text';
  const rows = await database
    .read()
    .execute<{ key: number; metadata: string }[]>(
      `select "key", ${text} as metadata from device where metadata is not null and "key" in (${keys.map(() => '?').join(', ')})`,
      [...keys],
    );
  return new Map(rows.map(({ key, metadata }) => [key, metadata]));
}

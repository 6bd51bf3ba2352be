import type { Database } from '../database.ts';
import { bytesSql, inPieces, placeholders } from '../long-columns.ts';

/** What the longest takes is read at once, or several that are shorter. */
const BYTES_AT_ONCE = 262_144;

/** The products, by their keys, so that the dashboards of one piece may be read at once. */
export async function dashboardPieces(database: Database, keys: readonly number[]): Promise<number[][]> {
  if (keys.length === 1) return [[...keys]];
  const bytes = bytesSql(database.dialect, 'dashboard');
  const rows = await database
    .read()
    .execute<{ key: number; bytes: number | null }[]>(
      `select "key", ${bytes} as bytes from product where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  return inPieces(rows, BYTES_AT_ONCE).map((piece) => piece.map(({ key }) => key));
}

/** Key of a product → the JSON text of its dashboard. */
export async function readDashboards(database: Database, keys: readonly number[]): Promise<Map<number, string>> {
  // SQLite keeps JSON as text; of PostgreSQL the driver would parse it.
  const text = database.dialect === 'sqlite' ? 'dashboard' : 'dashboard::text';
  const rows = await database
    .read()
    .execute<{ key: number; dashboard: string }[]>(
      `select "key", ${text} as dashboard from product where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  return new Map(rows.map(({ key, dashboard }) => [key, dashboard]));
}

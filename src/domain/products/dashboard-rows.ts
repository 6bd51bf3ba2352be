import type { Database } from '../ports/database.ts';
import { bytesSql, placeholders } from '../sql/long-columns.ts';

/** Maximum bytes of a dashboard, as JSON. */
export const MAX_DASHBOARD = 262_144;

/** Approximate bytes of the dashboard of each product, by their keys. */
export async function dashboardSizes(database: Database, keys: readonly number[]): Promise<number[]> {
  const bytes = bytesSql(database.dialect, 'dashboard');
  const rows = await database
    .read()
    .execute<{ key: number; bytes: number | null }[]>(
      `select "key", ${bytes} as bytes from product where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  const byKey = new Map(rows.map((row) => [row.key, row.bytes ?? MAX_DASHBOARD]));
  return keys.map((key) => byKey.get(key) ?? 0);
}

/** Key of a product → the JSON text of its dashboard. */
export async function readDashboards(database: Database, keys: readonly number[]): Promise<Map<number, string>> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = database.dialect === 'sqlite' ? 'dashboard' : 'dashboard::text';
  const rows = await database
    .read()
    .execute<{ key: number; dashboard: string }[]>(
      `select "key", ${text} as dashboard from product where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  return new Map(rows.map(({ key, dashboard }) => [key, dashboard]));
}

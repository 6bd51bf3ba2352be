import type { Database } from '../ports/database.ts';
import { bytesSql, placeholders } from '../sql/long-columns.ts';

/** Maximum bytes of a dashboard, as JSON. */
export const MAX_DASHBOARD = 262_144;

/** Where dashboards are: that of a product in its row, those of workspaces in rows of their own. */
const COLUMNS = { product: 'dashboard', dashboard: 'widgets' } as const;

type Table = keyof typeof COLUMNS;

/** Approximate bytes of the dashboard in each row, by their keys. */
export async function dashboardSizes(database: Database, table: Table, keys: readonly number[]): Promise<number[]> {
  const bytes = bytesSql(database.dialect, COLUMNS[table]);
  const rows = await database
    .read()
    .execute<{ key: number; bytes: number | null }[]>(
      `select "key", ${bytes} as bytes from ${table} where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  const byKey = new Map(rows.map((row) => [row.key, row.bytes ?? MAX_DASHBOARD]));
  return keys.map((key) => byKey.get(key) ?? 0);
}

/** Key of a row → the JSON text of its dashboard: of a workspace's the list of its widgets. */
export async function readDashboards(
  database: Database,
  table: Table,
  keys: readonly number[],
): Promise<Map<number, string>> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = database.dialect === 'sqlite' ? COLUMNS[table] : `${COLUMNS[table]}::text`;
  const rows = await database
    .read()
    .execute<{ key: number; dashboard: string }[]>(
      `select "key", ${text} as dashboard from ${table} where "key" in (${placeholders(keys)})`,
      [...keys],
    );
  return new Map(rows.map(({ key, dashboard }) => [key, dashboard]));
}

import Sqlite from 'better-sqlite3';
import pg from 'pg';

/** Rows of a table, asked of the database itself. */
export async function countRows(url: string, table: 'measurement' | 'webhook_call' = 'measurement'): Promise<number> {
  if (url.startsWith('sqlite:')) {
    const sqlite = new Sqlite(url.slice('sqlite:'.length), { readonly: true });
    const row = sqlite.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number };
    sqlite.close();
    return row.n;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`);
  await client.end();
  return Number(rows[0]?.n);
}

import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { fieldsOf } from '../../src/measurement-store/readings/reading-values.ts';

type Reading = [deviceKey: number, timestamp: number, packed: Buffer];

/** How many values are stored, in readings and in chunks or in chunks alone, or how many calls, asked of the database itself. */
export async function countRows(url: string, what: 'values' | 'chunked' | 'calls' = 'values'): Promise<number> {
  const { select, close } = await open(url);
  try {
    const count = async (sql: string): Promise<number> => Number(((await select(sql, []))[0] as [number])[0]);
    if (what === 'calls') return await count('SELECT count(*) FROM webhook_call');
    let values = await count('SELECT coalesce(sum(count), 0) FROM chunk');
    if (what === 'chunked') return values;
    const page = `SELECT device_key, ts, packed FROM reading WHERE (device_key, ts) > ($1, $2) ORDER BY device_key, ts LIMIT 20000`;
    for (let rows = (await select(page, [-1, 0])) as Reading[]; rows.length > 0;) {
      for (const [, , packed] of rows) values += fieldsOf(packed).size;
      rows = (await select(page, rows.at(-1)!.slice(0, 2))) as Reading[];
    }
    return values;
  } finally {
    await close();
  }
}

interface Opened {
  select(sql: string, values: unknown[]): Promise<unknown[][]>;
  close(): Promise<void>;
}

async function open(url: string): Promise<Opened> {
  if (url.startsWith('sqlite:')) {
    const sqlite = new Sqlite(url.slice('sqlite:'.length), { readonly: true });
    const select = (sql: string, values: unknown[]): Promise<unknown[][]> =>
      Promise.resolve(
        sqlite
          .prepare(sql.replaceAll(/\$\d/g, '?'))
          .raw()
          .all(...values) as unknown[][],
      );
    return { select, close: async () => void sqlite.close() };
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const select = async (text: string, values: unknown[]): Promise<unknown[][]> =>
    (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
  return { select, close: () => client.end() };
}

import Sqlite from 'better-sqlite3';
import pg from 'pg';

const QUERY = `SELECT value FROM installation WHERE name = 'cursor key'`;

/** What an installation seals its cursors with, read from its database (`sqlite:PATH` or `postgres://…`). */
export async function cursorKeyOf(databaseUrl: string): Promise<string> {
  if (databaseUrl.startsWith('sqlite:')) {
    const database = new Sqlite(databaseUrl.slice('sqlite:'.length), { readonly: true });
    const key = database.prepare<[], string>(QUERY).pluck().get();
    database.close();
    return key!;
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ value: string }>(QUERY)).rows[0]!.value;
  } finally {
    await client.end();
  }
}

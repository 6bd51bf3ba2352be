import type pg from 'pg';
import { nameServer } from './postgres-connection.ts';
import { HISTORY } from './recorded-select.ts';

/** In which history a version ran first that names it in its positions: of that one are those that name none. */
export const FIRST_HISTORY = "SELECT value FROM installation WHERE name = 'first history'";
const NOTE = `INSERT INTO installation (name, value) SELECT 'first history', ${HISTORY} ON CONFLICT (name) DO NOTHING`;

/** At the start, unless it is known: what is restored from now on brings it along. Rejects with the driver's error. */
export async function noteFirstHistory(pool: pg.Pool): Promise<void> {
  // First: a server that only reads is no reason not to start.
  if ((await pool.query(FIRST_HISTORY)).rows.length > 0) return;
  const client = await pool.connect();
  try {
    await nameServer(client);
    await client.query(NOTE);
  } finally {
    client.release();
  }
}

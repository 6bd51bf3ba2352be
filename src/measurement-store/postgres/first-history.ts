import type pg from 'pg';
import { nameServer } from './postgres-connection.ts';
import { HISTORY } from './recorded-select.ts';

/** In which history a version ran first that names it in its positions: of that one are those that name none. */
export const FIRST_HISTORY = "SELECT value FROM installation WHERE name = 'first history'";
const NOTE = `INSERT INTO installation (name, value) SELECT 'first history', ${HISTORY} ON CONFLICT (name) DO NOTHING`;
/** SQLSTATE of a write where only reading is possible. */
const ONLY_READS = '25006';

/**
 * At the start, unless it is known: what is restored from now on brings it along. A server that only reads is no reason not
 * to start: until one that writes is there at a start, positions that name no history have expired. Rejects with the
 * driver's error.
 */
export async function noteFirstHistory(pool: pg.Pool): Promise<void> {
  if ((await pool.query(FIRST_HISTORY)).rows.length > 0) return;
  const client = await pool.connect();
  try {
    await nameServer(client);
    await client.query(NOTE);
  } catch (error) {
    if ((error as { code?: unknown }).code !== ONLY_READS) throw error;
  } finally {
    client.release();
  }
}

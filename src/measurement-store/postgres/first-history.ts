import type pg from 'pg';
import { nameServer } from './postgres-connection.ts';
import { HISTORY } from './recorded-select.ts';

/** The history in which positions were first given a name: those without a name are of that one. */
export const FIRST_HISTORY = "SELECT value FROM installation WHERE name = 'first history'";
const NOTE = `INSERT INTO installation (name, value) SELECT 'first history', ${HISTORY} ON CONFLICT (name) DO NOTHING`;
/** SQLSTATE of a write where only reading is possible. */
const ONLY_READS = '25006';

/**
 * Notes the history at the start, unless it is known: a database restored later brings it along. A server that only
 * reads is no reason not to start: until one that writes is there at a start, positions that name no history have
 * expired. Rejects with the driver's error.
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

import type pg from 'pg';
import { must } from '../../must.ts';

const AT_ONCE = 10_000;
/** No transaction of this server has had such an id yet. */
const AHEAD = 'seq >= pg_snapshot_xmax(pg_current_snapshot())';

const IS_ANY_AHEAD = `
  SELECT EXISTS (SELECT FROM live_horizon WHERE ${AHEAD})
    OR EXISTS (SELECT FROM (SELECT seq FROM reading ORDER BY seq DESC LIMIT 1) AS newest WHERE ${AHEAD}) AS ahead`;
const TAKE_IN_SOME = `
  UPDATE reading SET seq = DEFAULT, stored_at = -abs(reading.stored_at)
  FROM (SELECT device_key, ts FROM reading WHERE ${AHEAD} ORDER BY seq DESC LIMIT ${AT_ONCE}) AS ahead
  WHERE reading.device_key = ahead.device_key AND reading.ts = ahead.ts`;
const TAKE_BACK_HORIZON = `UPDATE live_horizon SET seq = '0' WHERE ${AHEAD}`;

/**
 * Takes in a restored dump at the start: its transaction ids may be far ahead of this server's. All positions would
 * have expired until it has caught up, and old readings then be pushed as new ones. Readings that are ahead become none
 * of the live values. Rejects with the driver's error.
 */
export async function takeInRestored(pool: pg.Pool): Promise<void> {
  while (must((await pool.query<{ ahead: boolean }>(IS_ANY_AHEAD)).rows[0]).ahead) {
    await pool.query(TAKE_IN_SOME);
    await pool.query(TAKE_BACK_HORIZON);
  }
}

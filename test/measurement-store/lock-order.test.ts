import pg from 'pg';
import { expect, test } from 'vitest';
import { openDatabase, receipt } from './open-store.ts';

/** As a hand-over puts a value of another device under the one that is there. */
const FILL = `INSERT INTO reading (device_key, ts, stored_at, packed) VALUES (1, 1, 1, '')
  ON CONFLICT (device_key, ts) DO UPDATE SET packed = excluded.packed || reading.packed`;

test('a flush that merges waits for who has locked its device before it locks readings', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  for (let time = 0; time < 2; time += 1) await store.append(receipt(1, [[1, 1, time]]));
  // So that the next one says again when the device was heard.
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const client = new pg.Client({ connectionString: database.place });
  await client.connect();
  await client.query('BEGIN');
  await client.query('UPDATE device_state SET last_heard_at = last_heard_at');
  const flush = store.append(receipt(1, [[2, 1, 7], [2, 2, 7]])); // prettier-ignore
  const waits = async (): Promise<number> =>
    (await database.sql("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'inlet writer%' AND wait_event_type = 'Lock' AND datname = current_database()")).length; // prettier-ignore
  await expect.poll(waits).toBe(1);
  await client.query("SET LOCAL lock_timeout = '200ms'");
  await client.query(FILL);
  await client.query('COMMIT');
  await flush;
  await client.end();
  await store.stop();
  await database.close();
});

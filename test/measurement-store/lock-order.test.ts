import pg from 'pg';
import { expect, test } from 'vitest';
import { type OpenDatabase, openDatabase, receipt } from './open-store.ts';

/** As a hand-over puts a value of another device under the one that is there. */
const FILL = `INSERT INTO reading (device_key, ts, stored_at, packed) VALUES (1, 1, 1, '')
  ON CONFLICT (device_key, ts) DO UPDATE SET packed = excluded.packed || reading.packed`;

/** How many connections of the store wait for a lock. */
async function waiting(database: OpenDatabase): Promise<number> {
  const rows = await database.sql(
    "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'inlet%' AND wait_event_type = 'Lock' AND datname = current_database()",
  );
  return rows.length;
}

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
  const flush = store.append(receipt(1, [[2, 1, 7], [2, 2, 7]])); // oxfmt-ignore
  await expect.poll(() => waiting(database)).toBe(1);
  await client.query("SET LOCAL lock_timeout = '200ms'");
  await client.query(FILL);
  await client.query('COMMIT');
  await flush;
  await client.end();
  await store.stop();
  await database.close();
});

test('a deletion locks readings of which one stays in the order in which flushes write to them', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  // The first one stays with another field, the others go.
  for (const field of [1, 2]) await store.append(receipt(1, [[field, 1, 7]]));
  for (let time = 2; time < 20; time += 1) await store.append(receipt(1, [[1, time, 7]]));
  const client = new pg.Client({ connectionString: database.place });
  await client.connect();
  const lock = (time: number): Promise<unknown> =>
    client.query('SELECT 1 FROM reading WHERE ts = $1 FOR UPDATE', [time]);
  await client.query('BEGIN');
  await lock(1);
  const removed = store.remove({ deviceKey: 1, fieldKeys: [1], from: 0, to: 100, dryRun: false });
  await expect.poll(() => waiting(database)).toBe(1);
  await client.query("SET LOCAL lock_timeout = '200ms'");
  for (let time = 2; time < 20; time += 1) await lock(time);
  await client.query('COMMIT');
  expect(await removed).toBe(19);
  await client.end();
  await store.stop();
  await database.close();
});

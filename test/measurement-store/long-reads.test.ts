import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pause } from '../../src/scheduling/pause.ts';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import { SeriesReader, type ViewRequest, type ViewResult } from '../../src/domain/history/series-reader.ts';
import { openPool } from '../../src/measurement-store/postgres/postgres-connection.ts';
import { DIALECTS, openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

const LONG = 1;
const SHORT = 2;
const READINGS = 150_000;
const PER_RECEIPT = 20_000;

const inBuckets = (deviceKey: number): ViewRequest => ({
  deviceKey,
  fieldKey: 1,
  fieldType: 'FLOAT',
  from: 0,
  to: READINGS,
  maxCharacters: 0,
  view: { kind: 'statistics' },
});

describe.each(DIALECTS)('a long read of the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await openDatabase(dialect);
    // What autovacuum finds out must not decide how readings are found.
    if (dialect === 'postgres') await database.sql('ALTER TABLE reading SET (autovacuum_enabled = off)');
    store = await database.openStore();
    for (let at = 0; at < READINGS; at += PER_RECEIPT)
      await store.append(
        receipt(
          LONG,
          Array.from({ length: PER_RECEIPT }, (_, i): Row => [1, at + i, (at + i) / 10]),
        ),
      );
    await store.append(receipt(SHORT, [[1, 5, 7]]));
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  /** How many others that ask beside it, one after the other, are answered before it is. */
  async function answeredBeside(long: Promise<unknown>, ask: () => Promise<unknown>): Promise<number> {
    const done = long.then(() => 'done');
    for (let answered = 0; ; answered += 1) {
      await ask();
      if ((await Promise.race([done, pause(0)])) === 'done') return answered;
    }
  }

  test('of newest values does not hold up others', async () => {
    const newest = (deviceKey: number, fieldKeys: number[]) => store.latest([{ deviceKey, fieldKeys }]);
    await newest(SHORT, [1]);
    const long = newest(LONG, [99]);
    const answered = await answeredBeside(long, async () =>
      expect(await newest(SHORT, [1])).toEqual([{ deviceKey: SHORT, fieldKey: 1, timestamp: 5, value: 7 }]),
    );
    expect(await long).toEqual([]);
    expect(answered).toBeGreaterThanOrEqual(2);
  });

  test('of a chart does not hold up another one, also if it is asked in the same moment', async () => {
    const reader = new SeriesReader(store);
    const ask = (deviceKey: number): Promise<ViewResult[]> =>
      reader.read([inBuckets(deviceKey)], new PointBudget(undefined, { tokenId: `${deviceKey}`, tenant: 'one' }));
    await ask(SHORT);
    const chart = ask(LONG);
    // For each of the threads several.
    const more = Array.from({ length: 5 }, () => ask(LONG));
    const answered = await answeredBeside(chart, async () =>
      expect(await ask(SHORT)).toMatchObject([{ answer: { count: 1, sum: 7 } }]),
    );
    expect(await chart).toMatchObject([{ answer: { count: READINGS, max: (READINGS - 1) / 10 } }]);
    expect(answered).toBeGreaterThanOrEqual(2);
    await Promise.all(more);
  });

  test('is one for each operation at a time, however much that asks', async () => {
    let [running, most, calls] = [0, 0, 0];
    const series: Store['series'] = async (requests) => {
      calls += 1;
      most = Math.max(most, ++running);
      return store.series(requests).finally(() => (running -= 1));
    };
    const reader = new SeriesReader({ series });
    const operation = new PointBudget();
    const asked: Promise<ViewResult[]>[] = [];
    for (let i = 0; i < 5; i++) {
      asked.push(reader.read([inBuckets(LONG)], operation), reader.read([inBuckets(SHORT)], operation));
      await pause(1);
    }
    for (const [i, [result]] of (await Promise.all(asked)).entries())
      expect(result).toMatchObject({ answer: { count: i % 2 === 0 ? READINGS : 1 } });
    expect(most).toBe(1);
    // What came while the first was read is one more; each goes on once more where the long one takes long.
    expect(calls).toBeLessThanOrEqual(4);
  });

  test('of a count goes over as many fields as are asked for', async () => {
    await store.append(
      receipt(
        3,
        Array.from({ length: 70 }, (_, i): Row => [i % 14, 1_000 * (i % 5), i]),
      ),
    );
    const range = { deviceKey: 3, from: 1_000, to: 4_000, dryRun: true };
    expect(await store.remove({ ...range, fieldKeys: Array.from({ length: 12 }, (_, key) => key) })).toBe(12 * 3);
    expect(await store.remove({ ...range, fieldKeys: [1, 1, 13, 99] })).toBe(2 * 3);
  });

  test('and more of them than run at once are all answered', async () => {
    const reader = new SeriesReader(store);
    const asked = Array.from({ length: 15 }, (_, i) =>
      reader.read([inBuckets(i % 3 === 0 ? LONG : SHORT)], new PointBudget()),
    );
    for (const [i, [result]] of (await Promise.all(asked)).entries())
      expect(result).toMatchObject({ answer: { count: i % 3 === 0 ? READINGS : 1 } });
  });
});

test('on PostgreSQL readers go along indexes, also in a table that nobody has analyzed', async () => {
  const database = await openDatabase('postgres');
  const pool = openPool(database.place, 1, undefined, true);
  await pool.query(
    `INSERT INTO reading (device_key, ts, stored_at, packed) SELECT 1, i, 1, '\\x01' FROM generate_series(1, 50000) AS i`,
  );
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
    'EXPLAIN SELECT ts FROM reading WHERE device_key = 1 AND ts >= 0 AND ts < 90000 ORDER BY ts LIMIT 2000',
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('using reading_pkey');
  expect(plan).not.toContain('Sort');
  await pool.end();
  await database.close();
});

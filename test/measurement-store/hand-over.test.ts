import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const ABSORBED = 1;
const KEPT = 2;

describe.each(DIALECTS)('what a device is handed over on %s', (dialect) => {
  let database: OpenDatabase;
  let store: Store;

  beforeEach(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  const writeDown = (): Promise<unknown> =>
    database.sql('INSERT INTO purge (device_key, field_key, into_device_key) VALUES (?, 1, ?), (?, 2, ?)', [
      ABSORBED,
      KEPT,
      ABSORBED,
      KEPT,
    ]);
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  /** Nothing is committed at the moment of the device until it is let go on. */
  async function holdUp(timestamp: number): Promise<() => Promise<void>> {
    if (dialect === 'sqlite') {
      const giveBack = await store.take();
      return async () => giveBack();
    }
    const client = new pg.Client({ connectionString: database.place });
    await client.connect();
    await client.query('BEGIN');
    const text = "INSERT INTO reading (device_key, ts, stored_at, packed) VALUES ($1, $2, 0, '')";
    await client.query(text, [KEPT, timestamp]);
    return async () => {
      await client.query('ROLLBACK');
      await client.end();
    };
  }

  test('what is recorded while its values are on their way stays', async () => {
    await store.append(receipt(ABSORBED, [[1, 1_000, 111], [2, 1_000, 'old'], [1, 2_000, 111]])); // oxfmt-ignore
    await writeDown();
    const letGoOn = await holdUp(1_000);
    const range = store.range.bind(store);
    let recorded: Promise<unknown> | undefined;
    // The values have been read, and will be stored behind this one.
    store.range = async (query) => {
      const page = await range(query);
      recorded ??= store.append(receipt(KEPT, [[1, 1_000, 222]]));
      await pause(50);
      return page;
    };
    const settled = store.settlePurges();
    try {
      await expect.poll(() => recorded !== undefined).toBe(true);
      await pause(500);
    } finally {
      await letGoOn();
    }
    await recorded;
    await settled;
    expect(await everything(store, KEPT, 1)).toEqual([[1_000, 222], [2_000, 111]]); // oxfmt-ignore
    expect(await everything(store, KEPT, 2)).toEqual([[1_000, 'old']]);
    expect(await everything(store, ABSORBED, 1)).toEqual([]);
    // When nothing is waiting to be sorted in any more, and in chunks.
    await store.stop();
    store = await database.openStore();
    expect(await everything(store, KEPT, 1)).toEqual([[1_000, 222], [2_000, 111]]); // oxfmt-ignore
    await store.compact([KEPT], Infinity);
    expect(await everything(store, KEPT, 1)).toEqual([[1_000, 222], [2_000, 111]]); // oxfmt-ignore
  });

  test('fills the gaps between values of its own, many of which are in chunks', async () => {
    const own = Array.from({ length: 5_000 }, (_, at): Row => [1, 2 * at, 222]);
    await store.append(receipt(KEPT, own, 5));
    await store.compact([KEPT], Infinity);
    await store.append(receipt(KEPT, [[1, 3, 222], [3, 5, 'own']], 5)); // oxfmt-ignore
    const given = Array.from({ length: 3_000 }, (_, at): Row => [1, at < 2_000 ? at : 8 * at - 13_999, 111]);
    await store.append(receipt(ABSORBED, [...given, [1, 20_001, 111]], 7));
    await writeDown();
    await store.settlePurges();
    const expected = new Map(given.map(([, timestamp]) => [timestamp, 111]));
    expected.set(20_001, 111).set(3, 222);
    for (const [, timestamp] of own) expected.set(timestamp, 222);
    expect(await everything(store, KEPT, 1)).toEqual([...expected].sort(([a], [b]) => a - b));
    expect(await everything(store, KEPT, 3)).toEqual([[5, 'own']]);
    expect(await everything(store, ABSORBED, 1)).toEqual([]);
    expect(await store.lastHeard([KEPT])).toEqual(new Map([[KEPT, 7]]));
    await store.append(receipt(KEPT, [[1, 1, 333]], 5));
    expect((await everything(store, KEPT, 1)).slice(0, 3)).toEqual([[0, 222], [1, 333], [2, 222]]); // oxfmt-ignore
  });

  test('is told of, with what the device has at the moment itself', async () => {
    await store.append(receipt(KEPT, [[3, 5, 'own']]));
    await store.append(receipt(ABSORBED, [[1, 5, 111]]));
    const after = await store.position();
    await writeDown();
    await store.settlePurges();
    const told = async (): Promise<unknown> => {
      const page = await store.recorded({ after, upTo: null, place: null, deviceKeys: [KEPT], limit: 10 });
      return page.readings.map(({ timestamp, fieldKeys, values }) => [timestamp, fieldKeys.map((key, at) => [key, values[at]]).sort()]); // oxfmt-ignore
    };
    await expect.poll(told).toEqual([[5, [[1, 111], [3, 'own']]]]); // oxfmt-ignore
  });
});

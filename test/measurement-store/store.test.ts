import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoreOptions } from '../../src/measurement-store/store-options.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const DAY = 86_400_000;

describe.each(DIALECTS)('the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  /** A device of its own for every test. */
  let device = 0;
  let isChanged = false;

  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  beforeEach(() => {
    device += 10;
  });
  afterEach(async () => {
    if (isChanged) await reopen();
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  /** With options until the end of the test. */
  async function reopen(options?: StoreOptions): Promise<void> {
    await store.stop();
    store = await database.openStore(options);
    isChanged = options !== undefined;
  }

  test('shows what it acknowledged at once', async () => {
    await store.append(receipt(device, [[1, 1_000, 20.5], [2, 1_000, 'open']])); // oxfmt-ignore
    expect(await store.latest([{ deviceKey: device, fieldKeys: [2, 1, 3] }])).toHaveLength(2);
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1] }])).toEqual([
      { deviceKey: device, fieldKey: 1, timestamp: 1_000, value: 20.5 },
    ]);
    expect(await everything(store, device, 2)).toEqual([[1_000, 'open']]);
  });

  test('replaces a value written again, within one receipt and across receipts', async () => {
    await store.append(receipt(device, [[1, 5, 1], [1, 4, 9], [1, 5, 2]])); // oxfmt-ignore
    expect(await everything(store, device, 1)).toEqual([
      [4, 9],
      [5, 2],
    ]);
    await store.append(receipt(device, [[1, 5, 'text now']]));
    await store.append(receipt(device, [[1, 4, 8]]));
    expect(await everything(store, device, 1)).toEqual([
      [4, 8],
      [5, 'text now'],
    ]);
    await store.append(receipt(device, [[1, 5, 3]]));
    expect(await everything(store, device, 1)).toEqual([
      [4, 8],
      [5, 3],
    ]);
  });

  test('lets the last of many appends of one key win, however they are grouped and read in between', async () => {
    const waiting: Promise<unknown>[] = [];
    for (let i = 1; i <= 2_000; i++) {
      waiting.push(store.append(receipt(device, [[1, 7, i]])));
      if (i % 100 === 0) {
        await waiting.at(-1);
        const [[, seen] = []] = await everything(store, device, 1);
        expect(seen).toBe(i);
      }
      if (i % 300 === 0) await store.compact([device], Infinity);
    }
    await Promise.all(waiting);
    expect(await everything(store, device, 1)).toEqual([[7, 2_000]]);
  });

  test('keeps the order of commits when one receipt has several batches of a device', async () => {
    const batches = [1, 2, 3].flatMap((value) => receipt(device, [[1, 7, value]]).batches);
    await store.append({ batches });
    expect(await everything(store, device, 1)).toEqual([[7, 3]]);
  });

  test('deletes piece by piece: between them others have their turn, and what was not granted is as it was', async () => {
    await store.append(
      receipt(
        device,
        Array.from({ length: 2_500 }, (_, at): Row => [1, at, at]),
      ),
    );
    const query = { deviceKey: device, fieldKeys: [1], from: 0, to: 3_000, dryRun: false };
    let granted = 0;
    let grant!: () => void;
    const more = new Promise<void>((resolve) => (grant = resolve));
    const deleting = store.remove(query, async (work) => {
      if (granted === 2) await more;
      granted += 1;
      return work();
    });
    // The count, and the first thousand.
    await expect.poll(() => everything(store, device, 1).then((rows) => rows.length)).toBe(1_500);
    expect(granted).toBe(2);
    grant();
    expect(await deleting).toBe(2_500);
    expect(await everything(store, device, 1)).toEqual([]);
    expect(granted).toBeGreaterThanOrEqual(4);
  });

  test('keeps devices and fields apart', async () => {
    const receipts = [];
    for (let key = 0; key < 10; key++)
      receipts.push(
        store.append(
          receipt(
            device + key,
            Array.from({ length: 5 }, (_, f): Row => [f, 1, key * 10 + f]),
          ),
        ),
      );
    await Promise.all(receipts);
    for (let key = 0; key < 10; key++)
      for (let field = 0; field < 5; field++)
        expect(await everything(store, device + key, field)).toEqual([[1, key * 10 + field]]);
  });

  test('takes the latest by measured time, not by arrival', async () => {
    await store.append(receipt(device, [[1, 2_000, 1]]));
    await store.append(receipt(device, [[1, 1_000, 2]]));
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1] }])).toEqual([
      { deviceKey: device, fieldKey: 1, timestamp: 2_000, value: 1 },
    ]);
  });

  test('gives ranges from inclusive to exclusive, both ways, cut by the limit', async () => {
    const rows = [5, 3, 1, 4, 2].map((time): Row => [1, time * 1_000, time]);
    await store.append(receipt(device, rows));
    const range = async (from: number | undefined, to: number | undefined, newestFirst = false, limit = 100) =>
      (await store.range({ deviceKey: device, fieldKey: 1, ...(from !== undefined && { from }), ...(to !== undefined && { to }), newestFirst, limit })).timestamps; // oxfmt-ignore
    expect(await range(undefined, undefined)).toEqual([1_000, 2_000, 3_000, 4_000, 5_000]);
    expect(await range(2_000, 4_000)).toEqual([2_000, 3_000]);
    expect(await range(2_000, 4_001, true)).toEqual([4_000, 3_000, 2_000]);
    expect(await range(undefined, 4_000, true, 2)).toEqual([3_000, 2_000]);
    expect(await range(1_500.5, undefined, false, 1)).toEqual([2_000]);
    expect(await range(6_000, undefined)).toEqual([]);
  });

  test.each([
    ['a fraction', 0.1 + 0.2],
    ['a large integer', Number.MAX_SAFE_INTEGER],
    ['the largest number', Number.MAX_VALUE],
    ['the smallest number', Number.MIN_VALUE],
    ['minus zero', -0],
    ['an empty text', ''],
    ['text that looks like a number', '0012.50'],
    ['a location', '(52.1,-0.5)'],
    ['text in any script', 'Grüße, 世界, 👩‍👩‍👧, \u0301\uFFFF"\\\n\t\'{}'],
    ['long text', 'ß'.repeat(4_096)],
  ])('gives back %s as it was', async (_, value) => {
    await store.append(receipt(device, [[1, 1, value], [2, 8.64e15, value]])); // oxfmt-ignore
    expect((await everything(store, device, 1))[0]![1]).toBe(value);
    expect(await everything(store, device, 2)).toEqual([[8.64e15, value]]);
  });

  test('stores a lone surrogate as U+FFFD, as UTF-8 has none', async () => {
    await store.append(receipt(device, [[1, 1, 'a\uD800b'], [2, 1, '\uDC00']])); // oxfmt-ignore
    expect(await everything(store, device, 1)).toEqual([[1, 'a\uFFFDb']]);
    expect(await everything(store, device, 2)).toEqual([[1, '\uFFFD']]);
  });

  test.each<[string, Row]>([
    ['NaN', [1, 1, NaN]],
    ['Infinity', [1, 1, -Infinity]],
    ['NUL', [1, 1, 'a\0']],
    ['half a millisecond', [1, 1.5, 1]],
    ['a key of 33 bits', [2 ** 31, 1, 1]],
  ])('refuses %s without harm to the receipts beside it', async (_, row) => {
    const good = store.append(receipt(device, [[1, 1, 1]]));
    await expect(store.append(receipt(device, [row]))).rejects.toThrow(TypeError);
    const alsoGood = store.append(receipt(device, [[1, 2, 2]]));
    await Promise.all([good, alsoGood]);
    expect(await everything(store, device, 1)).toHaveLength(2);
  });

  test('stores a large receipt', async () => {
    const rows = Array.from({ length: 10_000 }, (_, i): Row => [1 + (i % 3), i, i % 2 ? i : `text ${i}`]);
    await store.append(receipt(device, rows));
    expect(await everything(store, device, 1)).toHaveLength(3_334);
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1] }])).toEqual([
      { deviceKey: device, fieldKey: 1, timestamp: 9_999, value: 9_999 },
    ]);
  });

  test('knows when it last heard of a device', async () => {
    await store.append(receipt(device, [[1, 1, 1]], 5_000));
    expect(await store.lastHeard([device, device + 1])).toEqual(new Map([[device, 5_000]]));
    expect(await store.lastHeard([device, device + 1])).toEqual(new Map([[device, 5_000]]));
    await store.append(receipt(device, [], 6_000));
    await store.append(receipt(device, [[1, 1, 1]], 4_000));
    expect(await store.lastHeard([device])).toEqual(new Map([[device, 6_000]]));
    expect(await store.lastHeard([device])).toEqual(new Map([[device, 6_000]]));
    expect(await store.lastHeard([])).toEqual(new Map());
  });

  test('removes a range of some fields and counts it first when asked to', async () => {
    const rows = Array.from({ length: 9_000 }, (_, i): Row => [1 + (i % 3), i, i]);
    await store.append(receipt(device, rows));
    await store.append(receipt(device + 1, rows));
    const query = { deviceKey: device, fieldKeys: [1, 2], from: 3, to: 8_997, dryRun: true };
    expect(await store.remove(query)).toBe(5_996);
    expect(await everything(store, device, 1)).toHaveLength(3_000);
    expect(await store.remove({ ...query, dryRun: false })).toBe(5_996);
    expect((await everything(store, device, 1)).map((row) => row[0])).toEqual([0, 8_997]);
    expect((await everything(store, device, 2)).map((row) => row[0])).toEqual([1, 8_998]);
    expect(await everything(store, device, 3)).toHaveLength(3_000);
    expect(await everything(store, device + 1, 1)).toHaveLength(3_000);
    expect(await store.remove({ ...query, dryRun: false })).toBe(0);
  });

  test('does not bring back what was removed when it is compacted or starts again', async () => {
    await store.append(receipt(device, [[1, 1, 1], [1, 2, 2]])); // oxfmt-ignore
    expect(await store.remove({ deviceKey: device, fieldKeys: [1], from: 0, to: 2, dryRun: false })).toBe(1);
    await store.compact([device], Infinity);
    expect(await everything(store, device, 1)).toEqual([[2, 2]]);
    await reopen();
    expect(await everything(store, device, 1)).toEqual([[2, 2]]);
  });

  test('takes values again where others were removed', async () => {
    await store.append(receipt(device, [[1, 1, 1]]));
    await store.remove({ deviceKey: device, fieldKeys: [1], from: 0, to: DAY, dryRun: false });
    await store.append(receipt(device, [[1, 1, 2]]));
    expect(await everything(store, device, 1)).toEqual([[1, 2]]);
  });

  test('shows no value again that was corrected, where what is too old stays with younger ones', async () => {
    const rows = Array.from({ length: 10 }, (_, i): Row => [1, i, i]);
    await store.append(receipt(device, rows));
    await store.compact([device], Infinity);
    await store.append(receipt(device, [[1, 2, 'corrected'], [2, 2, 7], [2, 9, 8]])); // oxfmt-ignore
    await store.dropOlderThan([device], 5);
    expect((await everything(store, device, 1))[2]).toEqual([2, 'corrected']);
    expect(await everything(store, device, 2)).toEqual([[9, 8]]);
    await store.dropOlderThan([device], 10);
    expect(await everything(store, device, 1)).toEqual([[9, 9]]);
  });

  test('purges a field or a device in the background', async () => {
    const rows = Array.from({ length: 12_000 }, (_, i): Row => [1 + (i % 2), i, i]);
    for (const key of [device, device + 1, device + 2]) await store.append(receipt(key, rows, 9_000));
    await database.sql('INSERT INTO purge (device_key, field_key) VALUES (?, NULL), (?, 2)', [device, device + 1]);
    void store.settlePurges();
    await expect.poll(() => database.sql('SELECT id FROM purge')).toEqual([]);
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1, 2] }])).toEqual([]);
    expect(await store.latest([{ deviceKey: device + 1, fieldKeys: [1, 2] }])).toMatchObject([{ fieldKey: 1 }]);
    expect(await store.latest([{ deviceKey: device + 2, fieldKeys: [1, 2] }])).toHaveLength(2);
    expect([...(await store.lastHeard([device, device + 1])).keys()]).toEqual([device + 1]);
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1, 2] }])).toEqual([]);
  });

  test('forgets also what was handed over before the device was deleted, but was not stored yet', async () => {
    const letGo = await holdWrites();
    const queued = [1, 2, 3].map((value) => store.append(receipt(device, [[1, value, value]])));
    await new Promise((resolve) => setImmediate(resolve));
    await database.sql('INSERT INTO purge (device_key, field_key) VALUES (?, NULL)', [device]);
    const settled = store.settlePurges();
    // Time enough to forget what is not there yet.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await letGo();
    await Promise.all([...queued, settled]);
    await expect.poll(() => database.sql('SELECT id FROM purge')).toEqual([]);
    expect(await everything(store, device, 1)).toEqual([]);
    expect((await store.lastHeard([device])).size).toBe(0);
  });

  /** Nothing is stored until what it resolves with is called. */
  async function holdWrites(): Promise<() => Promise<void>> {
    if (dialect === 'sqlite') {
      const giveBack = await store.take();
      return async () => giveBack();
    }
    const client = new pg.Client({ connectionString: database.place });
    await client.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE reading IN SHARE MODE');
    return () => client.end();
  }

  test('goes on purging after it starts again', async () => {
    await store.append(
      receipt(
        device,
        Array.from({ length: 5_000 }, (_, i): Row => [1, i, i]),
      ),
    );
    await store.stop();
    await database.sql('INSERT INTO purge (device_key, field_key) VALUES (?, 1)', [device]);
    store = await database.openStore();
    await expect.poll(() => database.sql('SELECT id FROM purge')).toEqual([]);
    expect(await everything(store, device, 1)).toEqual([]);
  });

  test('writes what is waiting before it stops, and refuses what comes later', async () => {
    const waiting = Array.from({ length: 500 }, (_, i) => store.append(receipt(device, [[1, i, i]])));
    const stopped = store.stop();
    await expect(store.append(receipt(device, [[1, 1_000, 1]]))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await Promise.all([...waiting, stopped, store.stop()]);
    store = await database.openStore();
    expect(await everything(store, device, 1)).toHaveLength(500);
  });

  test('refuses more than its queue holds, and takes more when it has room again', async () => {
    await reopen({ maxWaitingRows: 1_000 });
    const rows = Array.from({ length: 100 }, (_, i): Row => [1, i, i]);
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, i) => store.append(receipt(device + (i % 10), rows))),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(20);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'OVERLOADED' });
    await store.append(receipt(device, [[1, 100, 1]]));
    expect(await everything(store, device, 1)).toHaveLength(101);
    await store.append(
      receipt(
        device + 1,
        Array.from({ length: 2_000 }, (_, i): Row => [1, i, i]),
      ),
    );
    expect(await everything(store, device + 1, 1)).toHaveLength(2_000);
  });

  test('bounds the queue by bytes, too', async () => {
    await reopen({ maxWaitingBytes: 100_000 });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => store.append(receipt(device, [[1, i, 'x'.repeat(40_000)]]))),
    );
    expect(results.filter((result) => result.status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
    expect(results.filter((result) => result.status === 'rejected').length).toBeGreaterThanOrEqual(6);
  });

  test('answers a ping', async () => {
    await expect(store.ping()).resolves.toBeUndefined();
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Purger, type PurgeRow } from '../../src/measurement-store/purger.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Store } from './open-store.ts';

type Deps = ConstructorParameters<typeof Purger>[0];

/** Of what is in the list, with what a test wants otherwise. */
function purgerOf(purges: PurgeRow[], deps: Partial<Deps>, everyMs?: number): Purger {
  return new Purger(
    {
      list: async (handsOver, after, limit) =>
        purges.filter(({ id, intoDeviceKey }) => id > after && (intoDeviceKey !== null) === handsOver).slice(0, limit),
      last: async () => Math.max(0, ...purges.map(({ id }) => id)),
      settled: async () => {},
      handOver: async () => true,
      forgetHeard: async () => {},
      position: async () => '0',
      forget: async () => true,
      end: async (id) => void purges.splice(purges.findIndex((purge) => purge.id === id), 1), // oxfmt-ignore
      log: undefined,
      ...deps,
    },
    everyMs,
  );
}

test('what another node has written down before it ended is settled', async () => {
  const purges: PurgeRow[] = [];
  const done: string[] = [];
  const purger = purgerOf(
    purges,
    {
      handOver: async ({ fieldKey }) => done.push(`hand over ${fieldKey}`) > 0,
      forget: async ({ deviceKey }) => done.push(`forget ${deviceKey}`) > 0,
    },
    10,
  );
  // Nobody tells this node.
  purges.push({ id: 1, deviceKey: 7, fieldKey: 3, intoDeviceKey: 8 }, { id: 2, deviceKey: 9, fieldKey: null, intoDeviceKey: null }); // oxfmt-ignore
  await expect.poll(() => done).toEqual(['hand over 3', 'forget 7', 'forget 9']);
  await purger.stop();
  expect(purges).toEqual([]);
});

test('where the database does not answer, the first that fails is the last that is tried', async () => {
  const tried: number[] = [];
  const purger = new Purger({
    list: async (handsOver, after) => [1, 2, 3].filter((id) => !handsOver && id > after).map((id) => ({ id, deviceKey: id, fieldKey: null, intoDeviceKey: null })), // oxfmt-ignore
    last: async () => 3,
    settled: async () => {},
    handOver: async () => true,
    forgetHeard: async () => {},
    position: () => Promise.reject(new Error('away')),
    forget: ({ id }) => Promise.reject(new Error(`failed ${tried.push(id)}`)),
    end: async () => {},
    log: undefined,
  });
  await purger.settle();
  await purger.stop();
  expect(tried).toEqual([1]);
});

test('one that fails is tried again later, and not whenever another is written down', async () => {
  const tried: number[] = [];
  const warned: unknown[] = [];
  const ids = Array.from({ length: 30 }, (_, at) => at + 1);
  const purger = new Purger({
    list: async (handsOver, after) => ids.filter((id) => !handsOver && id > after).map((id) => ({ id, deviceKey: id, fieldKey: null, intoDeviceKey: null })), // oxfmt-ignore
    last: async () => ids.at(-1) ?? 0,
    settled: async () => {},
    handOver: async () => true,
    forgetHeard: async () => {},
    position: async () => '0',
    forget: async ({ id }) => {
      tried.push(id);
      if (id <= 20) throw new Error('unreadable');
      return true;
    },
    end: async (id) => void ids.splice(ids.indexOf(id), 1), // oxfmt-ignore
    log: { warn: (what) => warned.push(what) },
  });
  await purger.settle();
  expect(tried).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
  expect(warned).toHaveLength(10);
  ids.push(31);
  await purger.settle();
  expect(tried.slice(30)).toEqual([31]);
  await expect.poll(() => tried.slice(31)).toEqual(ids);
  await purger.stop();
});

test('what is handed over waits for nothing that is only forgotten', async () => {
  const done: number[] = [];
  const purges = Array.from({ length: 250 }, (_, at): PurgeRow => ({ id: at + 1, deviceKey: at + 1, fieldKey: 1, intoDeviceKey: null })); // oxfmt-ignore
  const purger = purgerOf(purges, {
    forget: async ({ id }) => {
      // Written down meanwhile.
      if (done.push(id) === 1) purges.push({ id: 1_000, deviceKey: 1_000, fieldKey: 1, intoDeviceKey: 1_001 });
      return true;
    },
  });
  await purger.settle();
  await purger.stop();
  expect(done.indexOf(1_000)).toBe(100);
  expect(done).toHaveLength(251);
});

test('what is only forgotten comes to its turn beside ever more that is handed over, but not before what it has to hand over', async () => {
  const done: number[] = [];
  const row = (id: number, intoDeviceKey: number | null): PurgeRow => ({ id, deviceKey: id, fieldKey: 1, intoDeviceKey }); // oxfmt-ignore
  const purges = [...Array.from({ length: 15 }, (_, at) => row(at + 1, null)), ...Array.from({ length: 250 }, (_, at) => row(at + 100, 5_000)), row(350, null)]; // oxfmt-ignore
  const workOff = async ({ id }: { deviceKey: number } & PurgeRow): Promise<boolean> => {
    done.push(id);
    // As long as anything else is left.
    if (id >= 100 && id !== 350 && purges.some(({ intoDeviceKey }) => intoDeviceKey === null)) purges.push(row(done.length + 1_000, 5_000)); // oxfmt-ignore
    return done.length < 2_000;
  };
  const purger = purgerOf(purges, {
    handOver: async (purge) => workOff(purge as PurgeRow),
    forget: async ({ intoDeviceKey, ...purge }) =>
      intoDeviceKey !== null || (await workOff({ ...purge, intoDeviceKey })),
  });
  while (purges.length > 0) await purger.settle();
  await purger.stop();
  expect(done.slice(0, 110)).toEqual([...Array.from({ length: 100 }, (_, at) => at + 100), ...Array.from({ length: 10 }, (_, at) => at + 1)]); // oxfmt-ignore
  expect(purges).toEqual([]);
  expect(done.indexOf(350)).toBeGreaterThan(done.indexOf(349));
});

test('who waits for what is written down does not wait for what is written down meanwhile, of which there is no end', async () => {
  const done: number[] = [];
  const row = (id: number, intoDeviceKey: number | null): PurgeRow => ({ id, deviceKey: id, fieldKey: 1, intoDeviceKey }); // oxfmt-ignore
  const purges = [row(1, null), row(2, 5_000), row(3, null)];
  const purger = purgerOf(purges, {
    forget: async ({ id }) => {
      done.push(id);
      purges.push(row(purges.at(-1)!.id + 1, 5_000));
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    },
  });
  const settled = async (): Promise<number[]> => {
    const present = purges.map(({ id }) => id);
    await purger.settle();
    return present.filter((id) => !done.includes(id));
  };
  expect(await settled()).toEqual([]);
  // It is at it all along.
  expect(await Promise.all([settled(), settled()])).toEqual([[], []]);
  const before = done.length;
  await expect.poll(() => done.length).toBeGreaterThan(before + 10);
  await purger.stop();
  await purger.settle();
});

test('who starts it when it has just ended finds it at work', async () => {
  const purges: PurgeRow[] = [];
  const purger = purgerOf(purges, {
    forget: async () => true,
    end: async () => void purges.splice(0),
  });
  for (let microtasks = 0; microtasks < 40; microtasks += 1) {
    purger.start();
    for (let at = 0; at < microtasks; at += 1) await Promise.resolve();
    purges.push({ id: microtasks + 1, deviceKey: 1, fieldKey: 1, intoDeviceKey: null });
    await purger.settle();
    expect(purges).toEqual([]);
  }
  await purger.stop();
});

describe.each(DIALECTS)('on %s', (dialect) => {
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

  const left = async (): Promise<unknown[]> => {
    const rows = await database.sql<{ id: number | string }>('SELECT id FROM purge ORDER BY id');
    return rows.map(({ id }) => Number(id));
  };

  test('one that fails keeps no other from being settled, but those that it concerns', async () => {
    for (const key of [1, 2, 3, 4]) await store.append(receipt(key, [[1, 1_000, key]]));
    await store.compact([1, 2, 3, 4], Infinity);
    const [good] = await database.sql<{ packed: Buffer }>('SELECT packed FROM chunk WHERE device_key = 1');
    await database.sql('UPDATE chunk SET packed = ? WHERE device_key = 1', [Buffer.from([255, 1, 2])]);
    // The first cannot be handed over; the second would hand on what the first brings; the others have nothing to do with it.
    await database.sql(
      'INSERT INTO purge (id, device_key, field_key, into_device_key) VALUES (1, 1, 1, 2), (2, 2, 1, 3), (3, 4, NULL, NULL)',
    );
    await store.settlePurges();
    expect(await everything(store, 4, 1)).toEqual([]);
    expect(await everything(store, 2, 1)).toEqual([[1_000, 2]]);
    expect(await left()).toEqual([1, 2]);
    // Mended, they are settled in their order, by itself.
    await database.sql('UPDATE chunk SET packed = ? WHERE device_key = 1', [good!.packed]);
    await expect.poll(left).toEqual([]);
    expect(await everything(store, 1, 1)).toEqual([]);
    expect(await everything(store, 2, 1)).toEqual([]);
    expect(await everything(store, 3, 1)).toEqual([[1_000, 3]]);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LatestQuery } from '../../src/domain/ports/store.ts';
import { runAs } from '../../src/scheduling/current-caller.ts';
import type { CommittedSince, Snapshot } from '../../src/measurement-store/chunks/snapshot.ts';
import { latestRows } from '../../src/measurement-store/chunks/latest-columns.ts';
import { LatestSearches } from '../../src/measurement-store/latest-searches.ts';
import { LatestMemory } from '../../src/measurement-store/chunks/latest-memory.ts';
import { ReadingFrames } from '../../src/measurement-store/readings/reading-frames.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite/writer/sqlite-writer.ts';
import { openSlices, type Slices } from './open-slices.ts';
import { DIALECTS, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const START = 1_000_000;
/** Readings that a slice of the test looks through: some that it knows of, and a page. */
const SLICE = 500;
const BUSY = 0;
/** Readings of which it is quicker to begin anew than to look through them, unless a search is under way. */
const MUCH = 21_000;
/** Long enough for what ends, and not for what never does. */
const SEARCH_MS = 10_000;

function busy(from: number, count: number): Row[] {
  return Array.from({ length: count }, (_, i): Row => [BUSY, from + i, i]);
}

describe.each(DIALECTS)('a search for newest values in slices, on %s,', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let slices: Slices;
  let device = 0;
  let between: () => Promise<unknown> = async () => {};
  const searches = new LatestSearches(async (...asked) => {
    if (slices.count > 0) await between();
    return slices.ask(...asked);
  }, SEARCH_MS);
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  beforeEach(() => {
    device += 1;
    slices = openSlices(database);
    between = async () => {};
  });
  afterEach(() => slices.close());
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  test('lets others have their turn', async () => {
    for (let at = 0; at < 100_000; at += 20_000) await store.append(receipt(device, busy(START + at, 20_000)));
    await store.append(receipt(device + 100, [[BUSY, START, 7]]));
    await store.compact([], 0);
    const answered: string[] = [];
    const valuesOf = async (name: string, query: LatestQuery): Promise<unknown[]> => {
      const rows = await store.latest([query]);
      answered.push(name);
      return rows.map(({ value }) => value);
    };
    const long = valuesOf('long', { deviceKey: device, fieldKeys: [1] });
    const short = valuesOf('short', { deviceKey: device + 100, fieldKeys: [BUSY] });
    expect(await Promise.all([long, short])).toEqual([[], [7]]);
    expect(answered).toEqual(['short', 'long']);
  });

  test('comes to its end while the device sends', async () => {
    await store.append(receipt(device, [[1, START - 1, 7], ...busy(START, 20 * SLICE)]));
    let newest = START + 20 * SLICE;
    between = () => store.append(receipt(device, busy((newest += SLICE), SLICE)));
    expect(await searches.latest([{ deviceKey: device, fieldKeys: [1, 2] }])).toMatchObject([{ value: 7 }]);
    expect(slices.count).toBeLessThan(25);
  });

  test('comes to its end whatever others search meanwhile', async () => {
    await store.append(receipt(device, [[1, START - 1, 7], ...busy(START, 20 * SLICE)]));
    between = async () => {
      for (let other = 0; other < 20_000; other++)
        slices.memory.set(device + 100 + other, 1, { position: '1', upTo: START });
    };
    expect(await searches.latest([{ deviceKey: device, fieldKeys: [1, 2] }])).toMatchObject([{ value: 7 }]);
    expect(slices.count).toBeLessThan(25);
  });

  test.each(['another device', 'the device itself'])('comes to its end while %s sends very much', async (who) => {
    let newest = START + 4 * SLICE;
    await store.append(receipt(device, [[1, START - 1, 7], ...busy(START, 4 * SLICE)]));
    const isOther = who === 'another device';
    const sender = isOther ? device + 100 : device;
    // Newer than what was looked through, and older than all else that comes.
    const late: Row = [2, newest - 1, 8];
    between = async () => {
      await store.append(receipt(sender, [late, ...busy((newest += MUCH), MUCH)]));
      await store.compact([], 0);
    };
    const rows = await searches.latest([{ deviceKey: device, fieldKeys: [1, 2] }]);
    expect(rows.map(({ fieldKey, value }) => [fieldKey, value]).sort()).toEqual(isOther ? [[1, 7]] : [[1, 7], [2, 8]]); // oxfmt-ignore
    expect(slices.count).toBeLessThan(8);
  });

  test('ends a slice within what was committed since, and goes on behind it', async () => {
    const much = 60_000;
    await store.append(receipt(device, [[1, START - 1, 1], ...busy(START, 4 * SLICE)]));
    const looked: number[] = [];
    const inSnapshot = slices.inSnapshot;
    slices.inSnapshot = (work) => inSnapshot((snapshot) => {
      looked.push(0);
      return work(new Proxy(snapshot, {
        get: (target, name: keyof Snapshot) => name !== 'committedSince' ? target[name].bind(target) : async (which: CommittedSince) => {
          const page = await target.committedSince(which);
          looked.push(looked.pop()! + page!.rows.length);
          return page;
        },
      }));
    }); // oxfmt-ignore
    const from = START + 4 * SLICE;
    const send = async (rows: Row[]): Promise<void> => {
      for (let at = 0; at < rows.length; at += 10_000) await store.append(receipt(device, rows.slice(at, at + 10_000)));
      await store.compact([], 0);
    };
    const asked: LatestQuery[] = [{ deviceKey: device, fieldKeys: [1, 2, 3, 4] }];
    between = async () => {
      if (looked.length === 1) await send([[2, START - 2, 2], [3, START - 3, 2], ...busy(from, much), [4, START - 4, 3], [2, START - 5, 1], ...busy(from + much, much)]); // oxfmt-ignore
      // While it is in the middle: once more what was found, older and newer.
      if (looked.length === 2)
        await send([
          [2, START - 2, 5],
          [3, START - 4, 6],
          [4, START - 3, 7],
        ]);
    };
    const rows = await searches.latest(asked);
    expect(rows.map((row) => [row.fieldKey, row.timestamp, row.value]).sort()).toEqual(
      [[1, START - 1, 1], [2, START - 2, 5], [3, START - 3, 2], [4, START - 3, 7]]); // oxfmt-ignore
    // On PostgreSQL the database looks, and nobody waits for it.
    if (dialect === 'sqlite') expect(Math.max(...looked)).toBeLessThan(60_000);
  });

  test('goes on where it was, wherever it found something', async () => {
    const fields = Array.from({ length: 30 }, (_, i) => i + 1);
    // The third reading, where the first page ends; both sides of where the next ones do; and others.
    const behind = [2, 3, SLICE, SLICE + 1, SLICE + 2, SLICE + 3, ...fields.map((i) => i * 150)];
    const end = START + 5_000;
    const found = fields.map((field, i): Row => [field, end - 1 - behind[i]!, field]);
    await store.append(receipt(device, [...busy(START, 5_000), ...found]));
    const rows = await searches.latest([{ deviceKey: device, fieldKeys: [...fields, 99] }]);
    expect(rows.map((row) => [row.fieldKey, row.timestamp, row.value]).sort()).toEqual(found.sort());
    expect(slices.count).toBeLessThan(5_000 / SLICE + 5);
  });

  test('is of many devices, one after the other', async () => {
    const queries: LatestQuery[] = [];
    for (let i = 0; i < 60; i++) {
      const deviceKey = 1_000 + i;
      queries.push({ deviceKey, fieldKeys: [1, 2] });
      await store.append(receipt(deviceKey, [[1, START - 1, i], ...busy(START, i % 10 === 0 ? 3 * SLICE : 10)]));
    }
    const asked: number[] = [];
    const watched = new LatestSearches((some, progress) => {
      asked.push(some.length);
      return slices.ask(some, progress);
    });
    const rows = await watched.latest(queries);
    expect(rows.map((row) => [row.deviceKey, row.value]).sort()).toEqual(
      queries.map(({ deviceKey }, i) => [deviceKey, i]).sort(),
    );
    expect(asked.slice(0, 4)).toEqual([60, 50, 50, 50]);
  });

  test('is refused when it loses its way again and again, and found when asked again', async () => {
    const { memory } = slices;
    await store.append(receipt(device, [[1, START - 1, 7], ...busy(START, 5 * SLICE)]));
    between = async () => memory.clear();
    const impatient = new LatestSearches(async (...asked) => {
      await between();
      return slices.ask(...asked);
    }, 200);
    const query = { deviceKey: device, fieldKeys: [1] };
    await expect(impatient.latest([query])).rejects.toMatchObject({
      code: 'OVERLOADED',
      message: expect.stringContaining('Try again'),
    });
    between = async () => {};
    expect(await searches.latest([query])).toMatchObject([{ value: 7 }]);
  });

  const onPostgres = dialect === 'postgres' ? test : () => {};
  onPostgres('remembers whatever has not ended', async () => {
    await store.append(receipt(device, [[1, START - 1, 7], ...busy(START, 5 * SLICE)]));
    const other = new pg.Client(database.place);
    await other.connect();
    // As every transaction of ours: before it has an id it holds a lock.
    await other.query('BEGIN; LOCK TABLE reading IN ROW EXCLUSIVE MODE; SELECT pg_current_xact_id()');
    await store.append(receipt(device + 100, busy(START, 20_000)));
    const queries = [{ deviceKey: device, fieldKeys: [1, 2] }];
    expect(await searches.latest(queries)).toMatchObject([{ value: 7 }]);
    const insert = `INSERT INTO reading (device_key, ts, stored_at, seq, packed)
      VALUES (${device}, ${START - 2}, 1, pg_current_xact_id(), '\\x0903')`;
    await other.query(insert);
    await other.query('COMMIT');
    await other.end();
    expect(await searches.latest(queries)).toMatchObject([{ fieldKey: 2, value: -2 }, { value: 7 }]);
  });
});

describe('searches for newest values at the same time', () => {
  test('have turns: one slice at once, besides the first of each', async () => {
    let atOnce = 0;
    let most = 0;
    const asked: number[] = [];
    const searches = new LatestSearches(async (queries) => {
      const [{ deviceKey } = { deviceKey: 0 }] = queries;
      const isFirst = !asked.includes(deviceKey);
      asked.push(deviceKey);
      if (!isFirst) most = Math.max(most, (atOnce += 1));
      await new Promise(setImmediate);
      if (!isFirst) atOnce -= 1;
      const isDone = asked.filter((key) => key === deviceKey).length > deviceKey * 2;
      const found = { deviceKeys: [], fieldKeys: [], timestamps: [], values: [] };
      return { found, left: isDone ? [] : [0], progress: { era: '', devices: [] }, searchedMs: 1 };
    });
    await Promise.all([1, 2, 3].map((deviceKey) => searches.latest([{ deviceKey, fieldKeys: [1] }])));
    expect(most).toBe(1);
    expect(asked).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 3, 2, 3, 3, 3]);
  });

  const SLICE_TAKES_MS = 25;

  /** Each device has so many slices, of which each takes its time. */
  function sliced(slices: number, ...limits: number[]) {
    const asked: number[] = [];
    const searches = new LatestSearches(
      async ([query]) => {
        const { deviceKey } = query!;
        asked.push(deviceKey);
        await pause(SLICE_TAKES_MS);
        const isDone = asked.filter((key) => key === deviceKey).length >= slices;
        const found = { deviceKeys: [], fieldKeys: [], timestamps: [], values: [] };
        return { found, left: isDone ? [] : [0], progress: { era: '', devices: [] }, searchedMs: SLICE_TAKES_MS };
      },
      ...limits,
    );
    const search = (tenant: string, deviceKey: number, spend?: (ms: number) => void): Promise<unknown> =>
      runAs({ tokenId: tenant, tenant }, () => searches.latest([{ deviceKey, fieldKeys: [1] }], spend));
    return { asked, search };
  }

  test('of tenants in turns: who searches one device does not stand behind the ten of another', async () => {
    const { asked, search } = sliced(4);
    const loud = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((deviceKey) => search('loud', deviceKey));
    await pause(2 * SLICE_TAKES_MS);
    const before = asked.length;
    await search('quiet', 100);
    // Three turns, another one before each, and what ends meanwhile; the first slices of others.
    const beside = asked.slice(before).filter((key) => key !== 100);
    expect(beside.length).toBeLessThan(20);
    await Promise.all(loud);
  });

  test('by the time of their own slices: whoever waits for those of others is not refused for that, and does not pay for it', async () => {
    const limitMs = 4.5 * SLICE_TAKES_MS;
    const { search } = sliced(4, limitMs);
    const spent: number[] = [];
    const all = ['a', 'b', 'c', 'd', 'e'].map((tenant, at) => search(tenant, at, (ms) => spent.push(ms)));
    expect(await Promise.all(all)).toEqual([[], [], [], [], []]);
    expect(spent).toEqual(Array.from({ length: 20 }, () => SLICE_TAKES_MS));
    await expect(sliced(6, limitMs).search('a', 1)).rejects.toMatchObject({ code: 'OVERLOADED' });
    // But nobody waits for ever.
    const { search: searchLonger } = sliced(20, 10_000, 20 * SLICE_TAKES_MS);
    const others = [1, 2, 3].map((deviceKey) => searchLonger('other', deviceKey));
    await expect(Promise.all(others)).rejects.toMatchObject({ code: 'OVERLOADED' });
  });

  test('of first slices a few, so that their thread has room for what is short, and one for who has none', async () => {
    const { asked, search } = sliced(1);
    const loud = Array.from({ length: 50 }, (_, deviceKey) => search('loud', deviceKey));
    const quiet = search('quiet', 100);
    expect(asked.length).toBeLessThan(7);
    expect(asked).toContain(100);
    await Promise.all([...loud, quiet]);
  });
});

describe('what is remembered of searches', () => {
  const AT = { position: '1', upTo: START };

  test('is pushed out by what the same tenant searches, the oldest first', () => {
    const memory = new LatestMemory();
    memory.set(1, 1, AT, 'quiet');
    for (let deviceKey = 2; deviceKey < 10_500; deviceKey += 1)
      for (let fieldKey = 1; fieldKey <= 2; fieldKey += 1) {
        expect(memory.get(2, 1) ?? AT).toMatchObject(AT);
        memory.set(deviceKey, fieldKey, AT, 'loud');
      }
    expect(memory.get(1, 1)).toMatchObject(AT);
    // What is asked for again and again stays.
    expect(memory.get(2, 1)).toMatchObject(AT);
    expect(memory.get(3, 1)).toBeUndefined();
    expect(memory.get(10_499, 2)).toMatchObject(AT);
    // No more than that, however many tenants there are.
    for (let tenant = 0; tenant < 12_000; tenant += 1) memory.set(20_000 + tenant, 1, AT, `t${tenant}`);
    let kept = 0;
    for (let deviceKey = 0; deviceKey < 32_000; deviceKey += 1)
      for (let fieldKey = 1; fieldKey <= 2; fieldKey += 1) if (memory.get(deviceKey, fieldKey)) kept += 1;
    expect(kept).toBeLessThanOrEqual(10_000);
    expect(kept).toBeGreaterThan(4_000);
  });
});

test('a search looks at a moment that is being sorted in while a slice of it ends (SQLite)', async () => {
  const database = await openDatabase('sqlite');
  await (await database.openStore()).stop();
  const writer = new SqliteWriter(openForWriting(database.place));
  const slices = openSlices(database);
  const [device, other] = [9, 1];
  const flush = (batches: Record<number, Row[]>): void => {
    const frames = new ReadingFrames();
    for (const [deviceKey, rows] of Object.entries(batches))
      for (const batch of receipt(Number(deviceKey), rows).batches) frames.add(batch);
    const { buffer, length } = frames.take(undefined);
    writer.flush(Buffer.from(buffer, 0, length), []);
  };
  const queries: LatestQuery[] = [{ deviceKey: device, fieldKeys: [1, 2] }];
  flush({ [device]: busy(START, 2_000) });
  while (writer.sortInSome());
  let { found, left, progress } = await slices.ask(queries);
  const rows = latestRows(found);
  flush({ [other]: busy(START, 39_900) });
  while (writer.sortInSome());
  // Half of it finds its place, and what is looked for does not.
  const moment = START + 10_000;
  flush({ [other]: busy(START + 50_000, 600), [device]: [[1, moment, 7]] });
  writer.sortInSome();
  flush({ [device]: [[3, moment, 1], [BUSY, moment + 1, 0], [BUSY, moment + 2, 0]] }); // oxfmt-ignore
  for (let asked = 0; left.length > 0 && asked < 20; asked += 1) {
    ({ found, left, progress } = await slices.ask(queries, progress));
    rows.push(...latestRows(found));
    if (asked === 0) writer.sortInSome();
  }
  expect(rows).toMatchObject([{ fieldKey: 1, timestamp: moment, value: 7 }]);
  writer.close();
  await slices.close();
  await database.close();
});

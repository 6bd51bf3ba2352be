import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LONG_AGO } from '../../src/domain/ports/store.ts';
import { compaction, type Edit, emptyChange } from '../../src/measurement-store/chunks/edit.ts';
import { planCompaction } from '../../src/measurement-store/chunks/plan-compaction.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite/writer/sqlite-writer.ts';
import { Threads } from '../../src/measurement-store/threads.ts';
import { openSnapshots } from './open-slices.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const MINUTE = 60_000;
/** Many slices. */
const MUCH = 40_000;

describe.each(DIALECTS)('compaction in the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await openDatabase(dialect);
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  const rows = (from: number, count: number): Row[] => Array.from({ length: count }, (_, i) => [1, from + i, i / 4]);
  const readings = async (device: number): Promise<number> =>
    Number(
      (await database.sql<{ n: number }>('SELECT count(*) AS n FROM reading WHERE device_key = ?', [device]))[0]!.n,
    );
  /** On SQLite readings are sorted into their table a little later. */
  const sortedIn = (): Promise<void> => expect.poll(() => waiting()).toBe(0);
  const waiting = async (): Promise<number> =>
    dialect === 'sqlite' ? (await database.sql('SELECT seq FROM intake')).length : 0;
  const counts = async (device: number): Promise<number[]> =>
    (
      await database.sql<{ count: number }>('SELECT count FROM chunk WHERE device_key = ? ORDER BY first_at', [device])
    ).map(({ count }) => count);

  test('happens by itself: where it is worth it, not where readings are few or young', async () => {
    store = await database.openStore({ keptMs: 0, compactEveryMs: 20 });
    await store.append(receipt(1, rows(0, 239)));
    await store.append(receipt(3, rows(0, 240)));
    await expect.poll(() => readings(3)).toBe(0);
    await sortedIn();
    expect(await readings(1)).toBe(239);
    expect(await everything(store, 3, 1)).toHaveLength(240);
    await store.stop();
    store = await database.openStore({ keptMs: 60 * MINUTE, compactEveryMs: 20 });
    await store.append(receipt(4, rows(0, 500)));
    await sortedIn();
    // What was committed more than six hours before that goes, however little it is.
    await database.sql('UPDATE reading SET stored_at = stored_at - ? WHERE device_key = 1', [8 * 60 * MINUTE]);
    await expect.poll(() => readings(1)).toBe(0);
    expect(await readings(4)).toBe(500);
  });

  test('begins when asked with what was brought in from long ago; who follows live values is not told of that and loses nothing', async () => {
    store = await database.openStore({ keptMs: 60 * MINUTE, compactEveryMs: 60 * MINUTE });
    const after = await store.position();
    await store.append(receipt(1, rows(0, 300)));
    await store.append(receipt(1, rows(10_000, 300), LONG_AGO));
    // Also where it is in one commit with something else, and where it writes again what a device has sent.
    await Promise.all([store.append(receipt(2, rows(0, 10))), store.append(receipt(3, rows(0, 300), LONG_AGO))]);
    await store.append(receipt(2, [[1, 5, 'again']], LONG_AGO)); // oxfmt-ignore
    const told = async (): Promise<string[]> => {
      const query = { after, upTo: null, place: null, deviceKeys: null, limit: 5_000 };
      const { expired, readings: recorded } = await store.recorded(query);
      expect(expired).toBe(false);
      return recorded.map(({ deviceKey, timestamp }) => `${deviceKey} ${timestamp}`).toSorted();
    };
    const live = (device: number, count: number): string[] => rows(0, count).map(([, at]) => `${device} ${at}`);
    expect(new Set(await told())).toEqual(new Set([...live(1, 300), ...live(2, 10)]));
    await sortedIn();
    expect(new Set(await told())).toEqual(new Set([...live(1, 300), ...live(2, 10)]));
    await store.compactSoon();
    await expect.poll(async () => [await readings(1), await readings(3)]).toEqual([300, 0]);
    expect(new Set(await told())).toEqual(new Set([...live(1, 300), ...live(2, 10)]));
    expect(await everything(store, 1, 1)).toHaveLength(600);
    expect((await everything(store, 2, 1))[5]).toEqual([5, 'again']);
    expect(await store.lastHeard([3])).toEqual(new Map());
  });

  test('fills chunks up to a thousand values, whatever the pieces in which they come', async () => {
    store = await database.openStore();
    for (let at = 0; at < 2_300; at += 230) {
      await store.append(receipt(1, rows(at, 230)));
      await store.compact([1], Infinity);
    }
    expect(await counts(1)).toEqual([1_000, 1_000, 300]);
    // A correction changes no count; what is earlier than a first chunk that is full begins a new one.
    await store.append(receipt(1, [[1, 500, 'corrected'], [1, -5, 0]])); // oxfmt-ignore
    await store.compact([1], Infinity);
    expect(await counts(1)).toEqual([1, 1_000, 1_000, 300]);
    await store.append(receipt(1, [[2, 1, 1], [1, 3_000, 1]])); // oxfmt-ignore
    await store.compact([1], Infinity);
    expect((await everything(store, 1, 1)).slice(498, 503).map(([, value]) => value)).toContain('corrected');
    expect(await everything(store, 1, 2)).toEqual([[1, 1]]);
    expect(await everything(store, 1, 1)).toHaveLength(2_302);
  });

  test('of long texts writes a chunk once, whatever comes behind it or between it and the next', async () => {
    store = await database.openStore();
    const texts = (from: number, count: number): Row[] =>
      Array.from({ length: count }, (_, i) => [1, from + i, String(from + i).padEnd(4_096, '.')]);
    const bring = async (from: number, count: number): Promise<number[]> => {
      await store.append(receipt(1, texts(from, count)));
      await store.compact([1], Infinity);
      return counts(1);
    };
    const first = await bring(10_000, 100);
    // A slice is a chunk; a few texts that are left over go into the one before them.
    expect(first).toHaveLength(2);
    expect(first[0]).toBeLessThan(55);
    const second = await bring(10_100, 100);
    expect(second.slice(0, 2)).toEqual(first);
    expect(second).toHaveLength(4);
    const third = await bring(100_000, 40);
    expect(third).toEqual([...second, 40]);
    const late = await bring(20_000, 30);
    expect(late).toEqual([...second, 30, 40]);
    const all = [...texts(10_000, 200), ...texts(20_000, 30), ...texts(100_000, 40)];
    expect(await everything(store, 1, 1)).toEqual(all.map(([, at, text]) => [at, text]));
  });

  test('opens a few chunks at a time, also where each late value falls into another one', async () => {
    const CHUNKS = 60;
    store = await database.openStore({ compactEveryMs: 60 * MINUTE });
    const every = (step: number, from: number, count: number): Row[] =>
      Array.from({ length: count }, (_, at) => [1, from + at * step, at]);
    for (let at = 0; at < CHUNKS; at += 10) await store.append(receipt(1, every(2, at * 2_000, 10_000)));
    await store.compact([1], Infinity);
    await store.append(receipt(1, every(2_000, 1_001, CHUNKS)));
    await sortedIn();
    const { inSnapshot, close } = openSnapshots(database);
    const opened: number[] = [];
    let moved = 0;
    for (let edit: Edit | null = compaction(Infinity); edit !== null;) {
      const current = edit as Extract<Edit, { kind: 'compact' }>;
      const { change, next } = await inSnapshot((snapshot) => planCompaction(snapshot, 1, current));
      opened.push(change.chunksGone.length);
      moved += change.readings.length;
      edit = next;
    }
    await close();
    expect(opened).toEqual([50, 10]);
    expect(moved).toBe(CHUNKS);
    await store.compact([1], Infinity);
    expect(await readings(1)).toBe(0);
    const all = await everything(store, 1, 1);
    expect(all).toHaveLength(CHUNKS * 1_001);
    expect(all.filter(([time]) => time % 2 === 1).map(([time]) => time)).toEqual(
      every(2_000, 1_001, CHUNKS).map(([, time]) => time),
    );
  });

  test('never stands before short answers', async () => {
    store = await database.openStore({ keptMs: 0, compactEveryMs: 20 });
    const asked = vi.spyOn(Threads.prototype, 'ask');
    await store.append(receipt(1, rows(0, 300)));
    await expect.poll(() => counts(1)).toEqual([300]);
    // On PostgreSQL it is told whose the job is.
    const jobs = asked.mock.calls.map(([asking, longMs]) => {
      const { job = asking } = asking as { job?: unknown };
      return [(job as { kind: string }).kind, longMs] as const;
    });
    asked.mockRestore();
    const work = jobs.filter(([kind]) => ['plan', 'due', 'edit'].includes(kind));
    expect(work.length).toBeGreaterThan(0);
    for (const [, longMs] of work) expect(longMs).toBeDefined();
  });

  test('of a device that has much does not hold up others, and is stopped in the middle of it', async () => {
    store = await database.openStore({ keptMs: 0, compactEveryMs: 60 * MINUTE });
    await store.append(receipt(1, rows(0, MUCH)));
    await store.append(receipt(2, rows(0, 300)));
    await sortedIn();
    await store.compactSoon();
    await expect.poll(() => readings(2), { interval: 5 }).toBe(0);
    await store.stop();
    const left = await readings(1);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(MUCH);
    store = await database.openStore({ keptMs: 0, compactEveryMs: 20 });
    await expect.poll(() => readings(1)).toBe(0);
    expect(await everything(store, 1, 1)).toHaveLength(MUCH);
  });

  test('leaves a reading alone that is written again while it is at work', async () => {
    store = await database.openStore();
    const model = new Map<number, number>();
    const appending = { done: false };
    const compacting = (async () => {
      while (!appending.done) await store.compact([1], Infinity);
    })();
    // Each moment twice: what were lost of the second would not come again.
    for (let n = 1; n <= 300; n++) {
      model.set(n, -n);
      await store.append(receipt(1, [[1, n, n]]));
      await store.append(receipt(1, [[1, n, -n]]));
    }
    appending.done = true;
    await compacting;
    expect(new Map(await everything(store, 1, 1))).toEqual(model);
  });
});

test('a change that was planned from a chunk that is gone by then changes nothing (SQLite)', async () => {
  const database = await openDatabase('sqlite');
  const store = await database.openStore();
  await store.append(
    receipt(
      1,
      Array.from({ length: 300 }, (_, at): Row => [1, at, at]),
    ),
  );
  await store.compact([1], Infinity);
  await store.stop();
  const writer = new SqliteWriter(openForWriting(database.place));
  const [{ packed }] = (await database.sql<{ packed: Buffer }>('SELECT packed FROM chunk')) as [{ packed: Buffer }];
  const change = {
    ...emptyChange(1),
    chunksGone: [{ fieldKey: 1, firstAt: 7 }],
    chunksNew: [{ fieldKey: 1, firstAt: 8, lastAt: 299, count: 292, summary: null, bytes: packed }],
  };
  expect(() => writer.change(change, true)).toThrow('is not there');
  writer.close();
  expect(await database.sql('SELECT first_at, count FROM chunk')).toEqual([{ first_at: 0, count: 300 }]);
  await database.close();
});

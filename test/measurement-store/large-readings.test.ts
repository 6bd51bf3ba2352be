import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AppError } from '../../src/errors.ts';
import type { SeriesRequest, SeriesView } from '../../src/domain/ports/series-request.ts';
import type { Page } from '../../src/measurement-store/chunks/page.ts';
import type { Snapshot } from '../../src/measurement-store/chunks/snapshot.ts';
import { encode } from '../../src/measurement-store/chunks/codec.ts';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import { SeriesReader, type ViewResult } from '../../src/domain/history/series-reader.ts';
import { AnswerBudget } from '../../src/measurement-store/chunks/answer-budget.ts';
import { PostgresSnapshot } from '../../src/measurement-store/postgres/postgres-snapshot.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import { SqliteSnapshot } from '../../src/measurement-store/sqlite/reader/sqlite-snapshot.ts';
import { EITHER_DATABASE } from '../support/server.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

/** Of a page, and of one reading beside it. */
const MOST_BYTES = 4_000_000 + 700_000;
const READINGS = 24;
const FIELDS = 150;

const textOf = (i: number, field: number): string => `${i} ${field} `.padEnd(4_000, 'ä');

/** Half a megabyte at a moment, and a number. */
function largeReading(i: number): Row[] {
  const texts = Array.from({ length: FIELDS }, (_, field): Row => [field + 2, 1_000 * (i + 1), textOf(i, field)]);
  return [[1, 1_000 * (i + 1), i], ...texts.slice(0, 85)];
}

describe.each(DIALECTS)('readings of half a megabyte in the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
    for (let i = 0; i < READINGS; i++) await store.append(receipt(1, largeReading(i)));
    for (let i = 0; i < READINGS; i++) await store.append(receipt(2, [[1, 1_000 * (i + 1), i]]));
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  /** What a thread sees once everything is in its place. */
  async function withSnapshot(work: (snapshot: Snapshot) => Promise<void>): Promise<void> {
    await store.compact([], 0);
    await withoutSorting(work);
  }

  async function withoutSorting(work: (snapshot: Snapshot) => Promise<void>): Promise<void> {
    if (dialect === 'sqlite') {
      const db = openForReading(database.place);
      const intake = new IntakeView(db);
      intake.refresh();
      await work(new SqliteSnapshot(db, intake));
      db.close();
      return;
    }
    const client = new pg.Client({ connectionString: database.place });
    await client.connect();
    // As the store's own connections have it: bigint as number.
    client.setTypeParser(pg.types.builtins.INT8, Number);
    await work(new PostgresSnapshot(client));
    await client.end();
  }

  const numberOf = (row: { timestamp: number }): number => row.timestamp / 1_000 - 1;

  test('come in pages of some megabytes, one after the other, whole and in order', async () => {
    await withSnapshot(async (snapshot) => {
      const all = Array.from({ length: READINGS }, (_, i) => i);
      const readings = (newestFirst: boolean) => async (last: { timestamp: number } | undefined) => {
        const [from, to] = newestFirst
          ? [-Infinity, last?.timestamp ?? Infinity]
          : [(last?.timestamp ?? 0) + 1, Infinity];
        return snapshot.readings({ deviceKey: 1, from, to, newestFirst, limit: 2_000 });
      };
      expect(await inPages(readings(false))).toEqual(all);
      expect(await inPages(readings(true))).toEqual(all.toReversed());
      const compacted = { storedBefore: Infinity, limit: 1_000 };
      const old = (last: { timestamp: number } | undefined) =>
        snapshot.oldReadings(1, { ...compacted, from: (last?.timestamp ?? 0) + 1, bytes: 4_000_000 });
      expect(await inPages(old)).toEqual(all);
      const one = await snapshot.oldReadings(1, { ...compacted, from: 0, bytes: 1_000 });
      expect([one.rows.map(numberOf), one.isLast]).toEqual([[0], false]);
      const upTo = await snapshot.position();
      const recorded = (last: { seq: string; deviceKey: number; timestamp: number } | undefined) =>
        snapshot.recorded({ after: START[dialect], upTo, place: last ?? null, deviceKeys: null, limit: 1_000 });
      // Nothing is large of the other device: its readings come with the last page.
      expect(await inPages(recorded)).toEqual([...all, ...all]);
    });
  });

  /** The numbers of the readings of all pages: several, each as large as it may be at most. */
  async function inPages<R extends { timestamp: number; values: Buffer }>(
    next: (last: R | undefined) => Promise<Page<R>>,
  ): Promise<number[]> {
    const pages: Page<R>[] = [];
    for (let page = await next(undefined); ; page = await next(page.rows.at(-1))) {
      pages.push(page);
      expect(page.rows.reduce((sum, { values }) => sum + values.length, 0)).toBeLessThan(MOST_BYTES);
      if (page.isLast) break;
      expect(page.rows.length).toBeGreaterThan(4);
    }
    expect(pages.length).toBeGreaterThan(2);
    return pages.flatMap(({ rows }) => rows.map(numberOf));
  }

  test('of many devices are not all in memory for the newest of each', async () => {
    await withSnapshot(async (snapshot) => {
      const [large, small] = await snapshot.newest(
        [
          { deviceKey: 1, fieldKeys: [1] },
          { deviceKey: 2, fieldKeys: [1] },
        ],
        2,
      );
      expect(large!.readings).toEqual({ rows: [], isLast: false });
      expect([small!.readings.rows.map(numberOf), small!.readings.isLast]).toEqual([
        [READINGS - 1, READINGS - 2],
        false,
      ]);
    });
  });

  const onSqlite = dialect === 'sqlite' ? test : () => {};
  onSqlite('are not read to see that they are large', async () => {
    const db = new Sqlite(':memory:');
    const all = vi.spyOn(Object.getPrototypeOf(db.prepare('SELECT 1')) as Sqlite.Statement, 'all');
    await withSnapshot(async (snapshot) => {
      const [large] = await snapshot.newest([{ deviceKey: 1, fieldKeys: [1] }], 2);
      expect(large!.readings).toEqual({ rows: [], isLast: false });
    });
    const read = all.mock.results.flatMap(({ value }) => value as unknown[]).flat();
    all.mockRestore();
    db.close();
    expect(read).toContain(1_000 * READINGS);
    expect(read.filter((value) => Buffer.isBuffer(value) && value.length > 1_024)).toEqual([]);
  });

  test('come in such pages when they were just written again, too', async () => {
    const again = Array.from({ length: READINGS }, (_, i): Row => [1, 1_000 * (i + 1), i]);
    await store.compact([], 0);
    const written = async (): Promise<() => void> => {
      await store.append(receipt(1, again));
      // On SQLite they are not sorted in meanwhile …
      const release = await store.take();
      if (dialect === 'postgres' || (await database.sql('SELECT seq FROM intake')).length > 0) return release;
      // … unless they just were.
      release();
      return written();
    };
    const release = await written();
    const work = withoutSorting(async (snapshot) => {
      const upTo = await snapshot.position();
      const recorded = (last: { seq: string; deviceKey: number; timestamp: number } | undefined) =>
        snapshot.recorded({ after: START[dialect], upTo, place: last ?? null, deviceKeys: [1], limit: 1_000 });
      const all = Array.from({ length: READINGS }, (_, i) => i);
      // Those in the table are there as they were committed before.
      expect(await inPages(recorded)).toEqual(dialect === 'sqlite' ? [...all, ...all] : all);
    });
    await work.finally(release);
  });

  test('are found, counted, charted, followed, taken out and moved into chunks as others are', async () => {
    const numbers = Array.from({ length: READINGS }, (_, i): [number, number] => [1_000 * (i + 1), i]);
    const range = { deviceKey: 1, fieldKeys: [1], from: 0, to: Infinity };
    const check = async (): Promise<void> => {
      const [latest] = await store.latest([{ deviceKey: 1, fieldKeys: [1] }]);
      expect(latest).toEqual({ deviceKey: 1, fieldKey: 1, timestamp: 1_000 * READINGS, value: READINGS - 1 });
      expect(await everything(store, 1, 1)).toEqual(numbers);
      const back = await store.range({ deviceKey: 1, fieldKey: 1, newestFirst: true, limit: 20 });
      expect(back.values).toEqual(numbers.map(([, value]) => value).toReversed().slice(0, 20)); // oxfmt-ignore
      expect(await store.remove({ ...range, dryRun: true })).toBe(READINGS);
      const [answer] = await store.series([request(1, 1, { kind: 'statistics' })]);
      expect(answer!.views[0]).toMatchObject({ count: READINGS, sum: (READINGS * (READINGS - 1)) / 2 });
    };
    await check();
    // Each moment once, also where it was written again.
    await store.compact([], 0);
    const seen: number[] = [];
    const since = { after: START[dialect], upTo: null, place: null, deviceKeys: null, limit: 1_000 };
    for (let page = await store.recorded(since); ;) {
      for (const { deviceKey, values } of page.readings) if (deviceKey === 1) seen.push(Number(values[0]));
      if (page.complete) break;
      page = await store.recorded({ ...since, upTo: page.upTo, place: page.readings.at(-1)! });
    }
    expect(seen).toEqual(numbers.map(([, value]) => value));
    await store.compact([1], Infinity);
    const [{ left } = { left: -1 }] = await database.sql<{ left: number }>('SELECT count(*) AS left FROM reading WHERE device_key = 1'); // oxfmt-ignore
    expect(Number(left)).toBe(0);
    await check();
    const texts = await store.range({ deviceKey: 1, fieldKey: 12, newestFirst: false, limit: 100 });
    expect(texts.values).toEqual(numbers.map(([, i]) => textOf(i, 10)));
    await store.append(receipt(1, largeReading(READINGS)));
    await store.append(receipt(1, largeReading(READINGS + 1)));
    expect(await store.remove({ ...range, dryRun: false })).toBe(READINGS + 2);
    expect(await everything(store, 1, 1)).toEqual([]);
    expect((await everything(store, 1, 12)).length).toBe(READINGS + 2);
  });
});

/** Before everything in the order of commits. */
const START = { sqlite: '0', postgres: '1:1:' };

function request(deviceKey: number, fieldKey: number, view: SeriesView): SeriesRequest {
  const fieldType = view.kind === 'raw' ? 'STRING' : 'FLOAT';
  return { deviceKey, fieldKey, fieldType, from: 0, to: 1e12, maxCharacters: 1e6, views: [view] };
}

describe.each(EITHER_DATABASE)('texts in the %s store', (dialect) => {
  test('of a device are at most 32 million characters at once, equal ones counted once', async () => {
    const database = await openDatabase(dialect);
    const store = await database.openStore();
    const write = async (deviceKey: number, from: number, to: number, text: (i: number) => string): Promise<void> => {
      for (let at = from; at < to; at += 50) {
        const indexes = Array.from({ length: 50 }, (_, i) => at + i);
        const times = Float64Array.from(indexes, (i) => i * 1_000);
        const { bytes } = encode(times, indexes.map(text));
        await database.sql(
          'INSERT INTO chunk (device_key, field_key, first_at, last_at, count, packed) VALUES (?, 1, ?, ?, 50, ?)',
          [deviceKey, times[0], times.at(-1), Buffer.from(bytes)],
        );
      }
    };
    const count = async (deviceKey: number): Promise<number> => {
      const edges = Float64Array.of(0, 1e12);
      const view: SeriesView = { kind: 'buckets', edges, aggregation: 'COUNT', fill: 'NULL', rawUpTo: 0 };
      const [answer] = await store.series([{ ...request(deviceKey, 1, view), fieldType: 'STRING' }]);
      return Number((answer!.views[0] as { values: ArrayLike<number> }).values[0]);
    };
    const long = (i: number): string => String(i).padEnd(4_000, '.');
    await write(1, 0, 7_000, long);
    expect(await count(1)).toBe(7_000);
    await write(1, 7_000, 9_000, long);
    const refused = await count(1).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppError);
    expect(refused).toMatchObject({
      code: 'QUERY_TOO_COMPLEX',
      details: { limit: 'characters', allowed: 32_000_000 },
    });
    expect((refused as AppError).message).toContain('shorter range');
    await write(2, 0, 20_000, () => 'open'.padEnd(4_000, '.'));
    expect(await count(2)).toBe(20_000);
    // Nor may those be more that are not in chunks yet; its thread goes on.
    for (let at = 0; at < 9_000; at += 1_000)
      await store.append(
        receipt(
          3,
          Array.from({ length: 1_000 }, (_, i): Row => [1, (at + i) * 1_000, long(at + i)]),
        ),
      );
    expect(await count(3).catch((error: unknown) => error)).toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
    expect(await count(2)).toBe(20_000);
    // Others that ask at the same moment get their answers.
    const [reader, operation] = [new SeriesReader(store), new PointBudget()];
    const view: SeriesView = { kind: 'raw', limit: 10 };
    const ask = (deviceKey: number): Promise<ViewResult[]> =>
      reader.read([{ ...request(deviceKey, 1, view), fieldType: 'STRING', to: 6_000_000, view }], operation);
    const [some, many, others] = await Promise.allSettled([
      ask(1),
      reader.read([{ ...request(1, 1, view), fieldType: 'STRING', view: { ...view, limit: 9_000 } }], operation),
      ask(2),
    ]);
    expect(many).toMatchObject({ status: 'rejected', reason: { code: 'QUERY_TOO_COMPLEX' } });
    for (const answered of [some, others])
      expect(answered).toMatchObject({ status: 'fulfilled', value: [{ answer: { total: 6_000 } }] });
    // Nor those of chunks that late readings fall into.
    const late = Array.from({ length: 180 }, (_, i): Row => [1, i * 50_000 + 1, '.']);
    await store.append(receipt(1, late));
    expect(await count(1).catch((error: unknown) => error)).toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
    await store.stop();
    await database.close();
  });

  test('of states that come again and again count once a chunk', () => {
    const budget = new AnswerBudget();
    for (let chunk = 0; chunk < 4_000; chunk++) budget.spendTexts(Array.from({ length: 1_000 }, () => 'operating'));
    expect(() => budget.spendValue('x'.repeat(32_000_000 - 4_000 * 9))).not.toThrow();
    expect(() => budget.spendValue('x')).toThrow('32000000 characters');
  });

  test('of more than an eighth of what may be in memory a thread answers one at a time', async () => {
    const text = 'x'.repeat(4_000_001);
    const [first, second, third, small] = [1, 2, 3, 4].map(() => new AnswerBudget()) as [AnswerBudget, AnswerBudget, AnswerBudget, AnswerBudget]; // oxfmt-ignore
    const entered: string[] = [];
    const enter = (name: string, budget: AnswerBudget) => budget.room().then(() => entered.push(name));
    for (const budget of [first, second, third]) budget.spendValue(text);
    small.spendValue('x');
    await enter('first', first);
    const [two, three] = [enter('second', second), enter('third', third)];
    await enter('small', small);
    await enter('first', first);
    expect(entered).toEqual(['first', 'small', 'first']);
    // One that ends while it waits lets nobody in before the first.
    second.end();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(entered).toHaveLength(3);
    first.end();
    await Promise.all([two, three]);
    expect(entered.slice(3).sort()).toEqual(['second', 'third']);
    third.end();
  });

  test('and other values are five million at most that are not in chunks yet', () => {
    const budget = new AnswerBudget();
    for (let i = 0; i < 5_000_000; i++) budget.spendValue(i);
    const written = /^More than 5000000 values .* written within about the last hour, sent or imported, .*In an hour/;
    expect(() => budget.spendValue(1)).toThrow(written);
  });
});

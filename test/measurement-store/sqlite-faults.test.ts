import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OrmDatabase } from '../../src/database/orm-database.ts';
import { openSqliteOrm } from '../../src/database/open-orm.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

describe('the SQLite store', () => {
  let database: OpenDatabase;
  let store: Store;

  beforeEach(async () => {
    database = await openDatabase('sqlite');
    store = await database.openStore();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.stop();
    await database.close();
  });

  test('refuses receipts while another process keeps the file locked, and takes them afterwards', async () => {
    const other = new Sqlite(database.place);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.append(receipt(1, [[1, 1, 1]]))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      cause: { code: 'SQLITE_BUSY' },
    });
    other.exec('ROLLBACK');
    other.close();
    await store.append(receipt(1, [[1, 2, 2]]));
    expect(await everything(store, 1, 1)).toEqual([[2, 2]]);
  });

  test('goes on with a new writer thread when the old one dies', async () => {
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    await store.append(receipt(1, [[1, 1, 1]]));
    const writer = posted.mock.contexts[0] as Worker;
    const waiting = Array.from({ length: 20 }, (_, i) => store.append(receipt(1, [[1, 10 + i, i]])));
    const taken = store.take().then((giveBack) => giveBack(), () => {}); // oxfmt-ignore
    void writer.terminate();
    const results = await Promise.allSettled(waiting);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'UNAVAILABLE' });
    await taken;
    await store.append(receipt(1, [[1, 2, 2]]));
    const times = (await everything(store, 1, 1)).map((row) => row[0]);
    expect(times.slice(0, 2)).toEqual([1, 2]);
    for (const [i, result] of results.entries()) if (result.status === 'fulfilled') expect(times).toContain(10 + i);
  });

  test('does not start a new writer thread while somebody has a turn', async () => {
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    const giveBack = await store.take();
    await (posted.mock.contexts[0] as Worker).terminate();
    let stored = false;
    const appended = store.append(receipt(1, [[1, 1, 1]])).then(() => (stored = true));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stored).toBe(false);
    giveBack();
    await appended;
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
  });

  test('goes on when the writer paused for somebody who gave up meanwhile, as the process stood still', async () => {
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    const pauses = (): unknown[] => posted.mock.calls.filter(([{ job }]) => job.kind === 'hold');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const refused = expect(store.take()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    // No answer can be read before the clock has gone on: only microtasks run.
    while (pauses().length === 0) await Promise.resolve();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    await refused;
    const appends = (): Promise<boolean> => store.append(receipt(1, [[1, 1, 1]])).then(() => true, () => false); // oxfmt-ignore
    await expect.poll(appends).toBe(true);
    (await store.take())();
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
  });

  test('goes on reading with a new reader thread when the old one dies', async () => {
    const posted = vi.spyOn(Worker.prototype, 'postMessage');
    await store.ping();
    await (posted.mock.contexts[0] as Worker).terminate();
    await store.append(receipt(1, [[1, 1, 1]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
  });

  test('refuses to ask a thread that answers nothing, and none that has not come to one question yet', async () => {
    const post = Worker.prototype.postMessage;
    let come: (() => void)[] = [];
    vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, question, transfer) {
      if (question.job.kind === 'position') come.push(() => post.call(this, question, transfer));
      else post.call(this, question, transfer);
    });
    const askTooLong = async (meanwhile: () => Promise<void>): Promise<void> => {
      const late = expect(store.position()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await meanwhile();
      vi.advanceTimersByTime(8_000);
      await late;
    };
    await store.ping();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await askTooLong(() => store.ping());
      await store.ping();
      await askTooLong(async () => {});
      await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      for (const comes of come) comes();
      await expect.poll(() => store.ping().then(() => true, () => false)).toBe(true); // oxfmt-ignore
      // What it has not done yet is bounded, too.
      come = [];
      await askTooLong(async () => {
        for (let i = 1; i < 1_000; i++) store.position().catch(() => {});
        await store.ping();
      });
      await expect(store.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      come[0]!();
      await expect.poll(() => store.ping().then(() => true, () => false)).toBe(true); // oxfmt-ignore
    } finally {
      vi.useRealTimers();
      for (const comes of come) comes();
    }
  });

  test('writes nothing while somebody has a turn, and hands turns out in order', async () => {
    const giveBack = await store.take();
    const order: string[] = [];
    const other = new Sqlite(database.place, { timeout: 0 });
    const appended = store.append(receipt(1, [[1, 1, 1]])).then(() => order.push('append'));
    const takeTurn = async (name: string): Promise<void> => {
      const end = await store.take();
      order.push(name);
      end();
    };
    const second = takeTurn('second');
    const third = takeTurn('third');
    for (let i = 0; i < 20; i++) {
      other.exec('BEGIN IMMEDIATE');
      await new Promise((resolve) => setTimeout(resolve, 5));
      other.exec('COMMIT');
    }
    other.close();
    expect(order).toEqual([]);
    giveBack();
    giveBack();
    await Promise.all([appended, second, third]);
    expect(order).toEqual(['append', 'second', 'third']);
  });

  test('shares the file with units of work under load: nobody waits inside SQLite, nobody starves', async () => {
    const orm = await openSqliteOrm(database.place);
    const units = new OrmDatabase(orm, 'sqlite', store);
    const appended: number[] = [];
    let unitsDone = 0;
    const isEnough = (): boolean =>
      unitsDone > 20 && Array.from({ length: 20 }, (_, at) => appended[at + 1] ?? 0).every((count) => count > 10);
    let longestBlock = 0;
    let last = performance.now();
    const watch = setInterval(() => {
      longestBlock = Math.max(longestBlock, performance.now() - last);
      last = performance.now();
    }, 5);
    const append = async (device: number): Promise<void> => {
      for (let n = 1; !isEnough(); n++) {
        await store.append(
          receipt(
            device,
            Array.from({ length: 10 }, (_, f): Row => [f, n, n]),
          ),
        );
        appended[device] = n;
      }
    };
    const unit = async (): Promise<void> => {
      for (; !isEnough(); unitsDone++) {
        await units.write(async (em) => {
          await em.getConnection().execute('INSERT INTO purge (device_key, field_key) VALUES (999, 1)', [], 'run', em.getTransactionContext()); // oxfmt-ignore
        });
      }
    };
    await Promise.all([...Array.from({ length: 20 }, (_, i) => append(i + 1)), unit(), unit()]);
    clearInterval(watch);
    await orm.close();
    // In SQLite it would wait five seconds for the file.
    expect(longestBlock).toBeLessThan(4_000);
    for (let device = 1; device <= 20; device++) {
      expect(await store.latest([{ deviceKey: device, fieldKeys: [3] }])).toEqual([
        { deviceKey: device, fieldKey: 3, timestamp: appended[device], value: appended[device] },
      ]);
    }
    // Whether or not the store has worked some of them off meanwhile.
    const rows = await database.sql<{ n: number }>("SELECT seq AS n FROM sqlite_sequence WHERE name = 'purge'");
    expect(rows[0]!.n).toBe(unitsDone);
  });

  test('keeps its write-ahead log small under load', async () => {
    const rows = (n: number): Row[] => Array.from({ length: 100 }, (_, f): Row => [f, n, n + f]);
    for (let n = 0; n < 60; n++)
      await Promise.all(Array.from({ length: 100 }, (_, device) => store.append(receipt(device + 1, rows(n)))));
    expect(await everything(store, 100, 99)).toHaveLength(60);
    const count = async (table: string): Promise<number> =>
      (await database.sql<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n;
    await expect.poll(() => count('intake')).toBe(0);
    expect(await count('reading')).toBe(6_000);
    expect(statSync(`${database.place}-wal`).size).toBeLessThan(64e6);
  });

  test('does not open a file that is not there', async () => {
    await expect(SqliteMeasurementStore.open({ path: `${database.place}-missing` })).rejects.toThrow();
  });
});

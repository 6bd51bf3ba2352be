import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LONG_AGO, type Receipt, type RecordedPlace } from '../../src/domain/ports/store.ts';
import { ReadingFrames } from '../../src/measurement-store/readings/reading-frames.ts';
import { fieldsOf } from '../../src/measurement-store/readings/reading-values.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import { SqliteSnapshot } from '../../src/measurement-store/sqlite/reader/sqlite-snapshot.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite/writer/sqlite-writer.ts';
import { everything, openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

const FIELDS = [1, 2, 3];
/** Each half is more than a group: sorting in begins while others still come. */
const READINGS = 10_000;
const DEVICES = 40;

describe('readings that are committed and not yet sorted in (SQLite)', () => {
  let database: OpenDatabase;
  let store: Store;
  const folders: string[] = [];
  beforeEach(async () => {
    database = await openDatabase('sqlite');
    store = await database.openStore();
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  const count = async (table: string): Promise<number> =>
    (await database.sql<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))[0]!.n;

  /** What a process that is killed now would leave. */
  function copyFiles(from = database.place): string {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-intake-'));
    folders.push(folder);
    const path = join(folder, 'inlet.db');
    for (const ending of ['', '-wal'])
      if (existsSync(`${from}${ending}`)) cpSync(`${from}${ending}`, `${path}${ending}`);
    return path;
  }

  /** Every moment twice: first fields 1 and 3, later field 2 and another field 1. Devices take turns. */
  function rowsOf(n: number): { device: number; rows: Row[] } {
    const half = READINGS / 2;
    const at = n % half;
    const timestamp = Math.floor(at / DEVICES);
    const isSecond = n >= half;
    const rows: Row[] = isSecond
      ? [[2, timestamp, n], [1, timestamp, -n]]
      : [[1, timestamp, n], [3, timestamp, n]]; // oxfmt-ignore
    return { device: at % DEVICES, rows };
  }

  type Model = Map<string, number>;
  const keyOf = (device: number, field: number, timestamp: number): string => `${device} ${field} ${timestamp}`;

  const SOME = [7, 20, DEVICES];
  const ofSome = (model: Model): Model =>
    new Map([...model].filter(([key]) => SOME.some((device) => key.startsWith(`${device} `))));

  async function check(from: Pick<Store, 'range' | 'latest'>, device: number, model: Model): Promise<void> {
    for (const field of FIELDS) {
      const expected = [...model]
        .map(([key, value]) => [...key.split(' ').map(Number), value] as [number, number, number, number])
        .filter(([d, f]) => d === device && f === field)
        .map(([, , timestamp, value]) => [timestamp, value])
        .sort(([a], [b]) => a! - b!);
      expect(await everything(from as Store, device, field)).toEqual(expected);
      const middle = Math.floor(expected.length / 2);
      // A page newest first that ends in the middle.
      const page = await from.range({ deviceKey: device, fieldKey: field, newestFirst: true, limit: middle + 1 });
      expect(page.timestamps).toEqual(expected.map(([timestamp]) => timestamp).toReversed().slice(0, middle + 1)); // oxfmt-ignore
      const latest = await from.latest([{ deviceKey: device, fieldKeys: [field] }]);
      expect(latest.map(({ timestamp, value }) => [timestamp, value])).toEqual(expected.slice(-1));
    }
  }

  /** Everything that any or these devices recorded, page by page, as the values that somebody has who follows. */
  async function follow(deviceKeys: number[] | null): Promise<Model> {
    const seen: Model = new Map();
    const order: string[] = [];
    let place: RecordedPlace | null = null;
    let upTo: string | null = await store.position();
    for (;;) {
      const page = await store.recorded({ after: '0', upTo, place, deviceKeys, limit: deviceKeys === null ? 700 : 70 });
      expect(page.expired).toBe(false);
      for (const { seq, deviceKey, timestamp, fieldKeys, values } of page.readings) {
        order.push(seq);
        fieldKeys.forEach((field, i) => seen.set(keyOf(deviceKey, field, timestamp), values[i] as number));
      }
      upTo = page.upTo;
      place = page.readings.at(-1) ?? place;
      if (page.complete) break;
    }
    expect(order).toEqual(order.toSorted((a, b) => Number(a) - Number(b)));
    return seen;
  }

  test('are there for whoever reads, follows or comes after a kill, at every stage', async () => {
    const model: Model = new Map();
    for (let n = 0; n < READINGS; n += 100) {
      const hundred = Array.from({ length: 100 }, (_, i) => rowsOf(n + i));
      await Promise.all(hundred.map(({ device, rows }) => store.append(receipt(device, rows))));
      for (const { device, rows } of hundred)
        for (const [field, timestamp, value] of rows) model.set(keyOf(device, field, timestamp), value as number);
      // The moments of the first half are in their table when the second half writes them again.
      if (n + 100 === READINGS / 2) await expect.poll(() => count('intake')).toBe(0);
      if (n % 2_000 === 900 || n >= READINGS - 500) {
        await check(store, (n / 100) % DEVICES, model);
        expect(await follow(null)).toEqual(model);
        expect(await follow(SOME)).toEqual(ofSome(model));
        expect(await store.position()).toBe(await lastSeq());
      }
    }
    // Device 0 is the first to be sorted in: what goes there now must not come again with the rest.
    await store.remove({ deviceKey: 0, fieldKeys: [3], from: 0, to: Infinity, dryRun: false });
    for (const key of model.keys()) if (key.startsWith('0 3 ')) model.delete(key);
    const copy = await SqliteMeasurementStore.open({ path: copyFiles() });
    for (const device of [0, 7]) await check(copy, device, model);
    await copy.stop();
    await expect.poll(() => count('intake')).toBe(0);
    expect(await count('reading')).toBe(READINGS / 2);
    for (const device of [0, 7, 39]) await check(store, device, model);
    expect(await follow(null)).toEqual(model);
    expect(await follow(SOME)).toEqual(ofSome(model));
  });

  async function lastSeq(): Promise<string> {
    const tables = ['intake', 'reading'].map((table) => `SELECT max(seq) AS seq FROM ${table}`).join(' UNION ALL ');
    return String((await database.sql<{ seq: number }>(`SELECT max(seq) AS seq FROM (${tables})`))[0]!.seq);
  }

  test('are there after a kill in the middle of sorting them in, and again when the next one comes there too', async () => {
    const model: Model = new Map();
    const release = await store.take();
    const appended = Array.from({ length: 2_000 }, (_, i) => {
      const { device, rows } = rowsOf(i % 2 === 0 ? i : READINGS / 2 + i - 1);
      for (const [field, timestamp, value] of rows) model.set(keyOf(device, field, timestamp), value as number);
      return store.append(receipt(device, rows));
    });
    release();
    await Promise.all(appended);
    const path = copyFiles();
    for (const slices of [1, 2]) {
      const db = openForWriting(path);
      const writer = new SqliteWriter(db);
      for (let at = 0; at < slices; at += 1) expect(writer.sortInSome()).toBe(true);
      const overtaken = db.prepare('SELECT count(*) FROM reading WHERE seq >= (SELECT min(seq) FROM intake)').pluck();
      expect(overtaken.get()).toBeGreaterThan(0);
      db.close();
      const killed = await SqliteMeasurementStore.open({ path: copyFiles(path) });
      for (const device of [0, 2, 20, 38]) await check(killed, device, model);
      await killed.stop();
    }
  });

  test('are worked off by a flush that finds too many of them, as many as it brings: nobody waits for all', () => {
    const db = openForWriting(copyFiles());
    const writer = new SqliteWriter(db);
    const inPlace = db.prepare('SELECT count(*) FROM reading').pluck();
    const flush = (device: number, moments: number): number => {
      const before = inPlace.get() as number;
      const rows = Array.from({ length: moments }, (_, at): Row => [1, at, at]);
      flushInto(writer, receipt(device, rows));
      return (inPlace.get() as number) - before;
    };
    for (let device = 1; device <= 4; device += 1) expect(flush(device, 20_000)).toBe(0);
    // The least is a slice.
    expect(flush(6, 1)).toBe(1_024);
    const many = Array.from({ length: 10 }, (_, at) => flush(at + 7, 10_000));
    expect(Math.min(...many)).toBeGreaterThan(9_000);
    expect(Math.max(...many)).toBeLessThan(11_100);
    for (let some = 0; some < 60; some += 1) flush(1, 1);
    expect(flush(1, 1)).toBe(0);
    writer.close();
    expect(existsSync(database.place)).toBe(true);
  });

  /** 2,000 live values of device 1 that found their place, in a copy of the files: what brings more there, and what is told of it. */
  async function liveInPlace() {
    const live = Array.from({ length: 2_000 }, (_, i): Row => [1, i, i]);
    await store.append(receipt(1, live));
    await expect.poll(() => count('intake')).toBe(0);
    const path = copyFiles();
    const [db, reading] = [openForWriting(path), openForReading(path)];
    const [writer, view] = [new SqliteWriter(db), new IntakeView(reading)];
    const told = async (after = '0', upTo: string | null = null): Promise<number[]> => {
      view.refresh();
      const page = { after, upTo, place: null, deviceKeys: null, limit: 5_000 };
      return (await new SqliteSnapshot(reading, view).recorded(page)).rows.map(({ timestamp }) => timestamp);
    };
    const fileWrites = (rows: Row[]): void => flushInto(writer, receipt(1, rows, LONG_AGO));
    const close = (): void => [reading, db].forEach((opened) => opened.close());
    return { live, db, writer, told, fileWrites, close };
  }

  test('leave none of the live values untold while they find their place, though a file writes over these', async () => {
    const { live, writer, told, fileWrites, close } = await liveInPlace();
    fileWrites(live.map(([, at]): Row[] => [[2, at, -at], [2, at + 10_000, 0]]).flat()); // oxfmt-ignore
    const stages: number[] = [];
    for (let isMore = true; isMore;) {
      isMore = writer.sortInSome();
      stages.push(new Set(await told()).size);
    }
    expect(stages.length).toBeGreaterThan(3);
    expect(new Set(stages)).toEqual(new Set([2_000]));
    close();
  });

  test('… nor though a file writes over these twice, and somebody comes to a page between', async () => {
    const { live, db, writer, told, fileWrites, close } = await liveInPlace();
    const seqs = db.prepare('SELECT seq FROM intake ORDER BY seq').pluck();
    fileWrites(live.map(([, at]) => [2, at, -at]));
    writer.sortInSome();
    writer.sortInSome();
    fileWrites(live.map(([, at]) => [3, at, -at]));
    const first = String(seqs.get());
    const before = await told('0', first);
    while (String(seqs.get()) === first) writer.sortInSome();
    const after = await told(first);
    expect(before).toHaveLength(2_000);
    expect(new Set([...before, ...after]).size).toBe(2_000);
    close();
  });

  /** What a thread sees of as many as are told while nothing is sorted in. */
  async function whileWaiting(
    appended: { device: number; rows: Row[] }[],
    work: (snapshot: SqliteSnapshot, view: IntakeView) => Promise<void>,
  ): Promise<void> {
    const { device, rows } = appended.pop()!;
    for (const one of appended) await store.append(receipt(one.device, one.rows));
    await expect.poll(() => count('intake')).toBe(0);
    await store.append(receipt(device, rows));
    const release = await store.take();
    const db = openForReading(database.place);
    const view = new IntakeView(db);
    view.refresh();
    await work(new SqliteSnapshot(db, view), view).finally(release);
    db.close();
  }

  test('are gone over once for the newest of a device, however often it is asked for, and others have their turn', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i): Row => [1, (i * 1_597) % 5_000, i]);
    await whileWaiting([{ device: 1, rows }], async (snapshot, view) => {
      expect(view.first).toBeLessThan(Infinity);
      const over = vi.spyOn(view, 'over');
      const queries = Array.from({ length: 50 }, (_, i) => ({ deviceKey: 1, fieldKeys: [i] }));
      let now = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 3));
      let turns = 0;
      const turn = (): void => void (turns += 1, next = setImmediate(turn)); // oxfmt-ignore
      let next = setImmediate(turn);
      const newest = await snapshot.newest(queries, 2);
      clearImmediate(next);
      clock.mockRestore();
      for (const { readings } of newest)
        expect(readings.rows.map(({ timestamp }) => timestamp)).toEqual([4_999, 4_998]);
      expect(over).toHaveBeenCalledTimes(1);
      expect(turns).toBeGreaterThan(10);
    });
  });

  test('are gone over as far as a page of what was recorded goes', async () => {
    // Of each device's hundred 40 are written again with the next one.
    for (let n = 0; n < 12; n++) {
      const rows = Array.from({ length: 100 }, (_, i): Row => [1, n * 60 + i, n]);
      await Promise.all([1, 2, 3].map((device) => store.append(receipt(device, rows))));
    }
    const db = openForReading(database.place);
    const view = new IntakeView(db);
    view.refresh();
    db.close();
    const all = view.recorded(null, [0, 0, 0], Infinity, Infinity);
    const keys = all.map(({ deviceKey, timestamp }) => `${deviceKey} ${timestamp}`);
    expect([keys.length, new Set(keys).size]).toEqual([3 * 760, 3 * 760]);
    for (const deviceKeys of [null, [1, 3], [2, 9]]) {
      const expected = all.filter(({ deviceKey }) => deviceKeys?.includes(deviceKey) ?? true);
      for (const at of [-1, 0, 99, 100, 217]) {
        const { seq, deviceKey, timestamp } = at < 0 ? { seq: 0, deviceKey: 0, timestamp: 0 } : expected[at]!;
        const looked = vi.spyOn(Map.prototype, 'get');
        const page = view.recorded(deviceKeys, [Number(seq), deviceKey, timestamp], Infinity, 5);
        const count = looked.mock.calls.length;
        looked.mockRestore();
        expect(page).toEqual(expected.slice(at + 1, at + 6));
        // A flush or two, not all that wait.
        expect(count).toBeLessThan(1_000);
      }
    }
    const middle = Number(all[700]!.seq);
    const before = view.recorded(null, [0, 0, 0], middle, Infinity);
    expect(before).toEqual(all.filter(({ seq }) => Number(seq) <= middle));
  });

  test('come among those of the table as far as a page goes, from both ends', async () => {
    const at = (i: number, of: number): number => 10 * ((i * 37) % 100) + of;
    const table = Array.from({ length: 100 }, (_, i): Row[] => [[1, at(i, 0), i], [1, at(i, 1), i]]).flat(); // oxfmt-ignore
    const waiting = Array.from({ length: 100 }, (_, i): Row[] => [[2, at(i, 0), -i], [2, at(i, 2), -i]]).flat(); // oxfmt-ignore
    const times = [...new Set([...table, ...waiting].map(([, time]) => time))].toSorted((a, b) => a - b);
    const fields = [[1, 2], [1], [2]];
    await whileWaiting(
      [
        { device: 1, rows: table },
        { device: 1, rows: waiting },
      ],
      async (snapshot) => {
        for (const newestFirst of [true, false])
          for (const limit of [1, 2, 7, 150, 299, 300, 301]) {
            const range = { deviceKey: 1, from: -Infinity, to: Infinity, newestFirst, limit };
            const { rows, isLast } = await snapshot.readings(range);
            const expected = (newestFirst ? times.toReversed() : times).slice(0, limit);
            expect(rows.map(({ timestamp }) => timestamp)).toEqual(expected);
            for (const { timestamp, values } of rows) expect([...fieldsOf(values)]).toEqual(fields[timestamp % 10]);
            expect(isLast).toBe(limit >= 300);
          }
      },
    );
  });

  test('do not come back once they are deleted, not after a kill either', async () => {
    await store.append(receipt(1, [[1, 10, 1], [1, 20, 2], [2, 10, 3]])); // oxfmt-ignore
    const gone = { deviceKey: 1, fieldKeys: [1], from: 0, to: 15 };
    expect(await store.remove({ ...gone, dryRun: true })).toBe(1);
    expect(await store.remove({ ...gone, dryRun: false })).toBe(1);
    const left: Record<number, number[][]> = { 1: [[20, 2]], 2: [[10, 3]], 3: [] };
    const copy = await SqliteMeasurementStore.open({ path: copyFiles() });
    for (const from of [store, copy]) for (const field of FIELDS) expect(await everything(from, 1, field)).toEqual(left[field]); // oxfmt-ignore
    await copy.stop();
    await store.stop();
    store = await database.openStore();
    for (const field of FIELDS) expect(await everything(store, 1, field)).toEqual(left[field]);
  });

  test('say when their device was heard, in the table too when it is asked for', async () => {
    await store.append(receipt(5, [[1, 10, 1]], 2_000));
    await store.append(receipt(5, [[1, 11, 1]], 1_000));
    expect(await store.lastHeard([5, 6])).toEqual(new Map([[5, 2_000]]));
    await store.showHeard();
    expect(await database.sql('SELECT device_key, last_heard_at FROM device_state')).toEqual([
      { device_key: 5, last_heard_at: 2_000 },
    ]);
  });

  test('wait for no deletion in one piece: others are committed in between', async () => {
    await store.append(receipt(2, [[1, 1, 1], [1, 2, 2]])); // oxfmt-ignore
    await store.compact([], 0);
    const rows = Array.from({ length: 10_000 }, (_, at): Row => [1, at, at]);
    await store.append(receipt(1, rows));
    const state = { stored: 0, isOver: false };
    const removed = store
      .remove({ deviceKey: 2, fieldKeys: [1], from: 0, to: 2, dryRun: false })
      .finally(() => (state.isOver = true));
    for (let at = 1; !state.isOver; at += 1) {
      await store.append(receipt(3, [[1, at, at]]));
      state.stored = at;
    }
    expect(await removed).toBe(1);
    // In one piece it would have let one or two in.
    expect(state.stored).toBeGreaterThanOrEqual(4);
    expect(await everything(store, 1, 1)).toEqual(rows.map(([, at, value]) => [at, value]));
    expect(await everything(store, 2, 1)).toEqual([[2, 2]]);
  });

  test('wait while somebody else writes, and are sorted in afterwards', async () => {
    await store.append(receipt(1, [[1, 10, 1]]));
    const release = await store.take();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await count('reading')).toBe(0);
    expect(await everything(store, 1, 1)).toEqual([[10, 1]]);
    release();
    await expect.poll(() => count('intake')).toBe(0);
    expect(await count('reading')).toBe(1);
  });
});

/** As its thread is given it. */
function flushInto(writer: SqliteWriter, { batches }: Receipt): void {
  const frames = new ReadingFrames();
  for (const batch of batches) frames.add(batch);
  const { buffer, length } = frames.take(undefined);
  writer.flush(Buffer.from(buffer, 0, length), []);
}

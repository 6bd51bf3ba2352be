import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReadingFrames } from '../../src/measurement-store/readings/reading-frames.ts';
import { fieldsOf, valueOf } from '../../src/measurement-store/readings/reading-values.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/open-for-reading.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite/writer/sqlite-writer.ts';
import { DIALECTS, everything, openDatabase, type OpenDatabase, receipt, type Row } from './open-store.ts';

const TEXTS = 240;
const MOMENTS = 40;
const textOf = (field: number): string => `${field} `.padEnd(4_000, 'x');

/** Bytes of buffers that somebody still holds. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let time = 0; time < 2; time += 1) collect();
  return process.memoryUsage().arrayBuffers;
}

/** A megabyte at a moment, in fields from 2. */
function longMoment(timestamp: number): Row[] {
  return Array.from({ length: TEXTS }, (_, at): Row => [at + 2, timestamp, textOf(at)]);
}

describe('values that come one by one into moments of a megabyte (SQLite)', () => {
  let database: OpenDatabase;
  beforeEach(async () => {
    database = await openDatabase('sqlite');
    await (await database.openStore()).stop();
  });
  afterEach(() => database.close());

  function openWriter(): { writer: SqliteWriter; flush: (rows: Row[]) => void } {
    const writer = new SqliteWriter(openForWriting(database.place));
    const flush = (rows: Row[]): void => {
      const frames = new ReadingFrames();
      for (const batch of receipt(1, rows).batches) frames.add(batch);
      const { buffer, length } = frames.take(undefined);
      writer.flush(Buffer.from(buffer, 0, length), []);
    };
    return { writer, flush };
  }

  test('write it again once for all of them, and none is lost', async () => {
    const { writer, flush } = openWriter();
    flush(longMoment(1_000));
    while (writer.sortInSome());
    expect(writer.takeRewritten()).toBeNull();
    for (let value = 0; value < 500; value += 1) flush([[1, 1_000, value], [300, 1_000 + value, value]]); // prettier-ignore
    while (writer.sortInSome());
    const { readings, bytes } = writer.takeRewritten()!.get(1)!;
    expect(readings).toBeLessThanOrEqual(3);
    expect(bytes / readings).toBeGreaterThan(900_000);
    expect(writer.takeRewritten()).toBeNull();
    writer.close();
    const store = await database.openStore();
    expect(await everything(store, 1, 1)).toEqual([[1_000, 499]]);
    expect(await everything(store, 1, 2)).toEqual([[1_000, textOf(0)]]);
    expect((await everything(store, 1, 300)).length).toBe(500);
    await store.stop();
  });

  test('are sorted in a few megabytes at a time: others are committed in between', async () => {
    const { writer, flush } = openWriter();
    for (let moment = 1; moment <= MOMENTS; moment += 1) flush(longMoment(moment));
    while (writer.sortInSome());
    flush(Array.from({ length: MOMENTS }, (_, at): Row => [1, at + 1, at]));
    let slices = 1;
    while (writer.sortInSome()) slices += 1;
    // Sixteen before it is known how long they are, then five at a time.
    expect(slices).toBeGreaterThanOrEqual(5);
    expect(slices).toBeLessThanOrEqual(8);
    writer.close();
    const store = await database.openStore();
    expect(await everything(store, 1, 1)).toEqual(Array.from({ length: MOMENTS }, (_, at) => [at + 1, at]));
    await store.stop();
  });

  test('cost so much, too, where they are no more than some texts, and all that a request brought together', () => {
    const { writer, flush } = openWriter();
    const readings = 2_000;
    for (let from = 0; from < readings; from += 100)
      flush(Array.from({ length: 300 }, (_, at): Row => [2 + (at % 3), from + Math.floor(at / 3), textOf(at)]));
    while (writer.sortInSome());
    flush(Array.from({ length: readings }, (_, at): Row => [1, at, at]));
    const told: number[] = [];
    const look = (): void => {
      const { readings: rewritten, bytes } = writer.takeRewritten()!.get(1)!;
      expect(bytes).toBeGreaterThan(rewritten * 12_000);
      told.push(rewritten);
    };
    while (writer.sortInSome()) look();
    look();
    // 24 MB, of which four are a transaction; of each it is told with those before.
    expect(told.length).toBeGreaterThanOrEqual(6);
    expect(told.length).toBeLessThanOrEqual(8);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(readings);
    flush([[1, 0, 0]]);
    while (writer.sortInSome());
    look();
    expect(told.at(-1)).toBe(1);
    writer.close();
  });

  test('of many devices are told of once each, however many slices there are', () => {
    const { writer } = openWriter();
    const devices = Array.from({ length: 5_000 }, (_, at) => at + 1);
    const flushAll = (row: (at: number) => Row): void => {
      const frames = new ReadingFrames();
      for (const device of devices) for (const batch of receipt(device, [row(device)]).batches) frames.add(batch);
      const { buffer, length } = frames.take(undefined);
      writer.flush(Buffer.from(buffer, 0, length), []);
    };
    flushAll(() => [2, 1, textOf(2).slice(0, 2_000)]);
    while (writer.sortInSome());
    flushAll((at) => [1, 1, at]);
    const told: number[] = [];
    const look = (): void => void told.push(...(writer.takeRewritten()?.keys() ?? []));
    while (writer.sortInSome()) look();
    look();
    expect(told.toSorted((a, b) => a - b)).toEqual(devices);
    writer.close();
  });

  test('wait for no deletion in one piece: others are committed in between', async () => {
    const store = await database.openStore();
    const moments = Array.from({ length: 1_200 }, (_, at) => at + 1);
    for (const at of moments)
      await store.append(
        receipt(
          1,
          [2, 3, 4, 5].map((field): Row => [field, at, textOf(at)]),
        ),
      );
    await store.append(receipt(2, [[1, 1, 1], [1, 2, 2]])); // prettier-ignore
    await store.compact([], 0);
    await store.append(
      receipt(
        1,
        moments.map((at): Row => [1, at, at]),
      ),
    );
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
    expect(await everything(store, 1, 1)).toEqual(moments.map((at) => [at, at]));
    expect(await everything(store, 2, 1)).toEqual([[2, 2]]);
    await store.stop();
  });

  test('are merged by who reads them, not with each that comes', () => {
    const { writer, flush } = openWriter();
    flush(longMoment(1_000));
    for (let value = 0; value < 300; value += 1) flush([[1, 1_000, value]]);
    const db = openForReading(database.place);
    const view = new IntakeView(db);
    const before = heldBytes();
    view.refresh();
    // It was a megabyte for each.
    expect(heldBytes() - before).toBeLessThan(50_000_000);
    const range = { deviceKey: 1, from: 0, to: 2_000, newestFirst: false, limit: 10 };
    for (let time = 0; time < 2; time += 1) {
      const [row, ...others] = view.over({ rows: [], isLast: true }, range).rows;
      expect(others).toEqual([]);
      expect(valueOf(row!.values, 1)).toBe(299);
      expect(valueOf(row!.values, TEXTS + 1)).toBe(textOf(TEXTS - 1));
      expect(fieldsOf(row!.values).size).toBe(TEXTS + 1);
      expect(row!.values.length).toBeLessThan(1_000_000);
      flush([[1, 1_000, 299]]);
      view.refresh();
    }
    db.close();
    writer.close();
  });
});

test('a moment that is written to all the time keeps no flush in memory that is sorted in', async () => {
  const database = await openDatabase('sqlite');
  await (await database.openStore()).stop();
  const writer = new SqliteWriter(openForWriting(database.place));
  const db = openForReading(database.place);
  const view = new IntakeView(db);
  const before = heldBytes();
  for (let value = 0; value < 60; value += 1) {
    const frames = new ReadingFrames();
    // In one flush with a megabyte of somebody else.
    const others = Array.from({ length: 600 }, (_, at): Row => [1, value * 1_000 + at, textOf(at).slice(0, 2_000)]);
    for (const batch of [...receipt(1, [[1, 1_000, value]]).batches, ...receipt(2, others).batches]) frames.add(batch);
    const { buffer, length } = frames.take(undefined);
    writer.flush(Buffer.from(buffer, 0, length), []);
    view.refresh();
    while (writer.keepUp());
  }
  expect(heldBytes() - before).toBeLessThan(20_000_000);
  const range = { deviceKey: 1, from: 0, to: 2_000, newestFirst: false, limit: 10 };
  expect(view.over({ rows: [], isLast: true }, range).rows.map(({ values }) => valueOf(values, 1))).toEqual([59]);
  db.close();
  writer.close();
  await database.close();
});

test.each(DIALECTS)('the %s store tells whose long readings were written again', async (dialect) => {
  const database = await openDatabase(dialect);
  const told: [number, number, number][] = [];
  const store = await database.openStore({
    onRewritten: (devices) => {
      for (const [deviceKey, { readings, bytes }] of devices) told.push([deviceKey, readings, bytes]);
    },
  });
  await store.append(receipt(1, longMoment(1_000)));
  await store.append(receipt(2, [[1, 1_000, 1]]));
  // In their place, where there is one to wait for.
  await expect.poll(async () => (await database.sql<{ n: number }>('SELECT count(*) AS n FROM reading'))[0]!.n).toEqual(dialect === 'sqlite' ? 2 : '2'); // prettier-ignore
  for (const device of [1, 2]) await store.append(receipt(device, [[1, 1_000, 7]]));
  // Long, but new.
  await store.append(receipt(3, longMoment(1_000)));
  const expected = [[1, 1, expect.toSatisfy((bytes: number) => bytes > 900_000)]];
  await expect.poll(() => told).toEqual(expected);
  expect(await everything(store, 1, 1)).toEqual([[1_000, 7]]);
  await expect.poll(async () => (await database.sql<{ n: number }>('SELECT count(*) AS n FROM reading'))[0]!.n).toEqual(dialect === 'sqlite' ? 3 : '3'); // prettier-ignore
  expect(told).toEqual(expected);
  await store.stop();
  await database.close();
});

test('a long reading in PostgreSQL that is written again and again stays as long as its values', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  await store.append(receipt(1, longMoment(1_000)));
  for (let value = 0; value < 40; value += 1) await store.append(receipt(1, [...longMoment(1_000), [1, 1_000, value]]));
  const [{ bytes }] = (await database.sql<{ bytes: number }>('SELECT octet_length(packed) AS bytes FROM reading')) as [
    { bytes: number },
  ];
  expect(bytes).toBeLessThan(2_100_000);
  expect(await everything(store, 1, 1)).toEqual([[1_000, 39]]);
  await store.stop();
  await database.close();
});

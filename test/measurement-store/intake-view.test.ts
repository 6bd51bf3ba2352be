import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ReadingFrames } from '../../src/measurement-store/readings/reading-frames.ts';
import { fieldsOf, valueOf } from '../../src/measurement-store/readings/reading-values.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite/writer/sqlite-writer.ts';
import { openDatabase, type OpenDatabase, receipt, type Row } from './open-store.ts';

const TEXTS = 240;
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

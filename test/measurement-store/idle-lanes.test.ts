import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pause } from '../../src/scheduling/pause.ts';
import { Lanes } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import type { SqliteReader } from '../../src/measurement-store/sqlite/reader/sqlite-reader.ts';
import { openDatabase, type OpenDatabase, receipt, type Store } from './open-store.ts';

let database: OpenDatabase;
let store: Store;
let release: () => void;
beforeEach(async () => {
  database = await openDatabase('sqlite');
  store = await database.openStore();
  await store.append(receipt(1, [[1, 5, 7]], 9_000));
  // What came is not sorted in meanwhile.
  release = await store.take();
  await database.sql('DELETE FROM device_state');
});
afterEach(async () => {
  release();
  await store.stop();
  await database.close();
});

test('a lane that is idle has nothing of what has just been written in memory, and has it when it reads again', async () => {
  const lanes = new Lanes(database.place, 50);
  const heardBy = (reader: SqliteReader): [number, number][] => reader.lastHeard([1]);
  const reader = await lanes.run((lane) => Promise.resolve(lane.reader));
  expect(heardBy(reader)).toEqual([[1, 9_000]]);
  await expect.poll(() => heardBy(reader)).toEqual([]);
  expect(await lanes.run(async (lane) => heardBy(lane.reader))).toEqual([[1, 9_000]]);
  const long = lanes.run(async (lane) => {
    await pause(100);
    return heardBy(lane.reader);
  });
  expect(await long).toEqual([[1, 9_000]]);
});

test('a connection whose transaction could not be ended answers the next one', async () => {
  const lanes = new Lanes(database.place);
  const heard = (): Promise<[number, number][]> => lanes.run(async ({ reader }) => reader.lastHeard([1]));
  expect(await heard()).toEqual([[1, 9_000]]);
  const fails = vi.spyOn(Sqlite.prototype, 'exec').mockImplementation(function (this: Sqlite.Database, sql: string) {
    if (sql === 'COMMIT') throw new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR');
    this.prepare(sql).run();
    return this;
  });
  await expect(heard()).rejects.toMatchObject({ code: 'SQLITE_IOERR' });
  fails.mockRestore();
  expect(await heard()).toEqual([[1, 9_000]]);
});

import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyLog } from '../../src/measurement-store/sqlite/reader/copy-log.ts';
import { openForWriting } from '../../src/measurement-store/sqlite/writer/open-for-writing.ts';
import { WriteAheadLog } from '../../src/measurement-store/sqlite/writer/write-ahead-log.ts';
import { openDatabase, type OpenDatabase, receipt, type Store } from './open-store.ts';

const MB = 1_000_000;
const LOG_MB = 16;

/** What the log's header says: another number each time it begins anew. */
function saltOf(path: string): number {
  const file = openSync(`${path}-wal`, 'r');
  const header = Buffer.alloc(32);
  readSync(file, header);
  closeSync(file);
  return header.readUInt32BE(16);
}

describe('the log of a SQLite file', () => {
  let folder: string;
  let path: string;
  const opened: Sqlite.Database[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-log-'));
    path = join(folder, 'inlet.db');
  });
  afterEach(() => {
    for (const db of opened.splice(0)) db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function open(): { db: Sqlite.Database; log: WriteAheadLog; grow: (megabytes: number) => void } {
    new Sqlite(path).exec('PRAGMA journal_mode = WAL; CREATE TABLE t (b BLOB)').close();
    const db = openForWriting(path);
    opened.push(db);
    const insert = db.prepare('INSERT INTO t VALUES (zeroblob(?))');
    return { db, log: new WriteAheadLog(db), grow: (megabytes) => void insert.run(megabytes * MB) };
  }

  test('is long once for each stretch, also while somebody who reads keeps it', () => {
    const { log, grow } = open();
    grow(LOG_MB / 2);
    expect(log.becameLong()).toBe(false);
    grow(LOG_MB);
    expect(log.becameLong()).toBe(true);
    expect(log.becameLong()).toBe(false);
    const reader = new Sqlite(path, { readonly: true });
    opened.push(reader);
    reader.exec('BEGIN; SELECT count(*) FROM t');
    log.copy();
    grow(1);
    expect(log.becameLong()).toBe(false);
    grow(LOG_MB);
    expect(log.becameLong()).toBe(true);
    reader.exec('COMMIT');
    // Copied whole, it begins anew: it is long again a stretch later, not two.
    log.copy();
    grow(1);
    expect(log.becameLong()).toBe(false);
    grow(LOG_MB);
    expect(log.becameLong()).toBe(true);
  });

  test('is copied by another connection, even in the middle of a transaction, and what came since by its writer', () => {
    const { db, log, grow } = open();
    grow(LOG_MB);
    const salt = saltOf(path);
    db.exec('BEGIN IMMEDIATE');
    grow(1);
    copyLog(path);
    expect(statSync(path).size).toBeGreaterThan(LOG_MB * MB);
    db.exec('COMMIT');
    grow(1);
    expect(saltOf(path)).toBe(salt);
    log.copy();
    grow(1);
    expect(saltOf(path)).not.toBe(salt);
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  });
});

describe('the store (SQLite)', () => {
  let database: OpenDatabase;
  let store: Store;
  const warnings: string[] = [];
  beforeEach(async () => {
    database = await openDatabase('sqlite');
    store = await database.openStore({ log: { warn: (_, message) => void warnings.push(message) } });
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  const text = 'x'.repeat(100_000);
  const logBytes = (): number => statSync(`${database.place}-wal`).size;

  test('has its log copied by a reader, also while its writer may not write', async () => {
    // Each page of 1,024 bytes has a header of 24.
    const long = LOG_MB * MB * (1_048 / 1_024);
    for (let n = 0; ; n++) {
      const wasLong = logBytes() >= long;
      await store.append(receipt(n, [[1, n, text + n]]));
      const release = await store.take();
      // A flush has the log looked at; what is sorted in behind it, which makes it longer too, waits for the next one.
      if (wasLong) {
        await expect.poll(() => statSync(database.place).size).toBeGreaterThan((LOG_MB / 2) * MB);
        return release();
      }
      release();
    }
  });

  test('has its log copied into the file while it records, long before a commit must do it', async () => {
    let longest = 0;
    const salts = new Set<number>();
    for (let n = 0; n < 700; n++) {
      await store.append(receipt(n, [[1, n, text + n]]));
      longest = Math.max(longest, logBytes());
      salts.add(saltOf(database.place));
    }
    // 70 MB of values are in the log twice.
    expect(longest).toBeLessThan(5 * LOG_MB * MB);
    expect(salts.size).toBeGreaterThan(2);
    for (const n of [0, 350, 699]) {
      const { values } = await store.range({ deviceKey: n, fieldKey: 1, newestFirst: false, limit: 2 });
      expect(values).toEqual([text + n]);
    }
    await store.stop();
    expect(warnings).toEqual([]);
  });
});

import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';

/** Needed room as a factor of the copy, as others write meanwhile. */
const ROOM = 1.1;

/**
 * Copies a SQLite database as it is at one moment, while others write to it, into one compact file (mode 0600) that is
 * durable when this resolves. An existing file is replaced only if `replace`; a failure leaves no half copy. (Copying
 * the file itself loses what still stands in its `-wal`.)
 */
export async function copySqlite(from: string, to: string, replace = false): Promise<void> {
  const part = `${to}.part`;
  rmSync(part, { force: true });
  if (!replace) closeSync(openSync(to, 'wx', 0o600));
  const source = new Sqlite(from, { fileMustExist: true, timeout: 10_000 });
  try {
    source.pragma('wal_autocheckpoint = 0');
    requireRoom(source, dirname(to));
    source.prepare('VACUUM INTO ?').run(part);
    chmodSync(part, 0o600);
    const file = openSync(part, 'r');
    fsyncSync(file);
    closeSync(file);
    renameSync(part, to);
  } catch (error) {
    rmSync(part, { force: true });
    if (!replace) rmSync(to, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

/** Throws if the disk is too small, as the copy would fill it and stop a server that stores there. */
function requireRoom(source: Sqlite.Database, folder: string): void {
  const number = (name: string): number => source.pragma(name, { simple: true }) as number;
  const needed = (number('page_count') - number('freelist_count')) * number('page_size') * ROOM;
  const { bavail, bsize, blocks } = statfsSync(folder);
  // 0 blocks: the file system does not tell.
  if (blocks === 0 || bavail * bsize >= needed) return;
  const [mb, free] = [needed, bavail * bsize].map((bytes) => Math.ceil(bytes / 1_048_576));
  throw new Error(`${folder} has too little room for a copy: ${mb} MB are needed, ${free} MB are free`);
}

/** Damage that SQLite finds in the file, at most ten sentences; none: it is a whole database of Inlet. */
export function findDamage(path: string): string[] {
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(path, { fileMustExist: true, readonly: true, timeout: 10_000 });
    const found = database.pragma('integrity_check(10)') as { integrity_check: string }[];
    const damage = found.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'user_account'").all();
    return tables.length === 0 && damage.length === 0 ? ['it is no database of Inlet'] : damage;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    database?.close();
  }
}

/** Rows that a statement selects of the file. */
export function selectOf<Row>(path: string, statement: string): Row[] {
  const database = new Sqlite(path, { fileMustExist: true, readonly: true, timeout: 10_000 });
  try {
    return database.prepare(statement).all() as Row[];
  } finally {
    database.close();
  }
}

/**
 * Expires all cursors of live values, as those given since the backup would name places of other values. Moves the
 * horizon to the clock, which is beyond all that was given; without a clock beyond what any server makes between a
 * backup and its return. (Positions have at most fifteen digits.)
 */
export function goOnBeyondAll(path: string): void {
  const database = new Sqlite(path, { fileMustExist: true });
  const last = ['reading', 'device_state', 'intake'].map((table) => `(SELECT coalesce(max(seq), 0) FROM ${table})`);
  database.prepare(`UPDATE live_horizon SET seq = max(?, max(seq, ${last.join(', ')}) + 100000000000)`).run(Date.now());
  database.close();
}

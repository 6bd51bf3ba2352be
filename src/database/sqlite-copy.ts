import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/**
 * Copies a SQLite database as it is at one moment, while others write to it, into one compact file (mode 0600) that is
 * durable when this resolves. An existing file is replaced only if `replace`; what fails leaves no half copy. (Copying
 * the file itself loses what still stands in its `-wal`.)
 */
export async function copySqlite(from: string, to: string, replace = false): Promise<void> {
  const part = `${to}.part`;
  rmSync(part, { force: true });
  if (!replace) closeSync(openSync(to, 'wx', 0o600));
  const source = new Sqlite(from, { fileMustExist: true, timeout: 10_000 });
  try {
    source.pragma('wal_autocheckpoint = 0');
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

/** What SQLite finds wrong with the file, at most ten sentences; none: it is whole, and an Inlet's. */
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

import Sqlite from 'better-sqlite3';

/** Opens the file for a thread that only reads. */
export function openForReading(path: string): Sqlite.Database {
  const db = new Sqlite(path, { fileMustExist: true, readonly: true });
  db.pragma('busy_timeout = 2000');
  db.pragma('cache_size = -8192');
  return db;
}

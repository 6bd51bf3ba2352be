import Sqlite from 'better-sqlite3';

/** Opens the file for reading only; `cacheKib`: size of the cache. */
export function openForReading(path: string, cacheKib = 8_192): Sqlite.Database {
  const db = new Sqlite(path, { fileMustExist: true, readonly: true });
  db.pragma('busy_timeout = 2000');
  db.pragma(`cache_size = -${cacheKib}`);
  return db;
}

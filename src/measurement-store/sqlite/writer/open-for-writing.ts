import Sqlite from 'better-sqlite3';

/** Opens the file for the thread that writes: every commit is on the disk before it returns. */
export function openForWriting(path: string): Sqlite.Database {
  const db = new Sqlite(path, { fileMustExist: true });
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('busy_timeout = 2000');
  db.pragma('cache_size = -8192');
  return db;
}

/** Runs `work` in one transaction that holds the write lock from its start; rolls back on any error. */
type Transact = <T>(work: () => T) => T;

/** The two ways of a connection into a transaction. */
export interface Transactions {
  /** Its writes are on the disk before it returns. */
  transact: Transact;
  /** Runs repeatable writes of data on the disk: the log is written in order, so the next commit takes them along. */
  lightly: Transact;
}

/** Makes the ways of a connection that was opened for writing. */
export function transactionsOf(db: Sqlite.Database): Transactions {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const transact: Transact = (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // SQLite has rolled back on its own after some errors (disk full).
      if (db.inTransaction) rollback.run();
      throw error;
    }
  };
  const lightly: Transact = (work) => {
    db.exec('PRAGMA synchronous = NORMAL');
    try {
      return transact(work);
    } finally {
      db.exec('PRAGMA synchronous = FULL');
    }
  };
  return { transact, lightly };
}

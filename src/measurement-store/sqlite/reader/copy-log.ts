import Sqlite from 'better-sqlite3';

/** Pages left at which copying ends, and maximum passes: commits go on meanwhile. */
const FEW_PAGES = 256;
const MAX_PASSES = 4;

/** Copies the log of commits into the file until little is left, on its own connection; holds up no writer. */
export function copyLog(path: string): void {
  const db = new Sqlite(path, { fileMustExist: true });
  try {
    db.pragma('synchronous = FULL');
    let left = Infinity;
    for (let pass = 0; pass < MAX_PASSES && left > FEW_PAGES; pass++) {
      db.pragma('wal_checkpoint(PASSIVE)');
      const [{ log, checkpointed }] = db.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }];
      left = log - checkpointed;
    }
  } finally {
    db.close();
  }
}

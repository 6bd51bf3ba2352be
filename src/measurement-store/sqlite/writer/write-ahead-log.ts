import type Sqlite from 'better-sqlite3';

/** Pages that many flushes change are copied into the file once. At SQLite's 4 MB recording costs an eighth more. */
const LOG_BYTES = 16_000_000;
/** Longer than that, whoever commits copies it: nobody else does, or somebody reads for very long. */
const LONGEST_LOGS = 4;

/**
 * SQLite's log of what was committed. Copying 16 MB of it into the file (a checkpoint) takes 20 to 30 ms, on a memory
 * card seconds: most of it is done by a reader thread (`reader/copy-log.ts`), beside the commits; the writer copies what
 * came meanwhile, so that the log begins anew.
 */
export class WriteAheadLog {
  readonly #state: Sqlite.Statement<[], { log: number }>;
  readonly #copy: Sqlite.Statement<[]>;
  readonly #pages: number;
  #toldAt = 0;

  /** The connection's own checkpoints are only for when nobody else makes any. */
  constructor(db: Sqlite.Database) {
    const pageBytes = db.pragma('page_size', { simple: true }) as number;
    this.#pages = Math.round(LOG_BYTES / pageBytes);
    db.pragma(`wal_autocheckpoint = ${this.#pages * LONGEST_LOGS}`);
    this.#state = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Whether it is time to copy it; tells once for each 16 MB. */
  becameLong(): boolean {
    const { log } = this.#state.get()!;
    if (log < this.#toldAt) this.#toldAt = 0;
    if (log < this.#toldAt + this.#pages) return false;
    this.#toldAt = log;
    return true;
  }

  /** Copies what no reader needs as it was; holds up nobody who writes. */
  copy(): void {
    this.#copy.get();
  }
}

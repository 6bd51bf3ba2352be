import type Sqlite from 'better-sqlite3';
import { must } from '../../../must.ts';

/** Bytes of the log from which it is copied: pages that many flushes change are copied into the file once. */
const LOG_BYTES = 16_000_000;
/** Factor of LOG_BYTES from which a commit copies the log itself: no reader does, or one reads for very long. */
const LONGEST_LOGS = 4;

/**
 * SQLite's log of commits. Copying it into the file (a checkpoint) takes long on slow disks: most of it is done by a
 * reader thread (`reader/copy-log.ts`), beside the commits; the writer copies the rest, so that the log begins anew.
 */
export class WriteAheadLog {
  readonly #state: Sqlite.Statement<[], { log: number }>;
  readonly #copy: Sqlite.Statement<[]>;
  readonly #pages: number;
  #toldAt = 0;

  /** The connection's own checkpoints are only for when no others are made. */
  constructor(db: Sqlite.Database) {
    const pageBytes = db.pragma('page_size', { simple: true }) as number;
    this.#pages = Math.round(LOG_BYTES / pageBytes);
    db.pragma(`wal_autocheckpoint = ${this.#pages * LONGEST_LOGS}`);
    this.#state = db.prepare('PRAGMA wal_checkpoint(NOOP)');
    this.#copy = db.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** Whether it is time to copy it; tells once for each 16 MB. */
  becameLong(): boolean {
    const { log } = must(this.#state.get());
    if (log < this.#toldAt) this.#toldAt = 0;
    if (log < this.#toldAt + this.#pages) return false;
    this.#toldAt = log;
    return true;
  }

  /** Copies the pages that no reader needs in their old state; holds up no writer. */
  copy(): void {
    this.#copy.get();
  }
}

import Sqlite from 'better-sqlite3';
import { ResourcePool } from '../../../scheduling/resource-pool.ts';
import { IntakeView } from './intake-view.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteSnapshot } from './sqlite-snapshot.ts';

/** Maximum lanes per thread: two have one for each operation of GraphQL that runs at once. */
const MAX_LANES = 16;
/** Cache of the lanes but the first, which has the pages of most jobs; the others run jobs beside long work. */
const OTHERS_CACHE_KIB = 2_048;

/** Milliseconds without a job after which a lane frees its memory: each would have the latest pages. */
const IDLE_MS = 10_000;

/** A job's access to the database: one transaction. */
export interface Lane {
  reader: SqliteReader;
  snapshot: SqliteSnapshot;
}

/** A connection for one job at a time. */
class Connection implements Lane {
  readonly #db: Sqlite.Database;
  readonly #intake: IntakeView;
  readonly reader: SqliteReader;
  readonly snapshot: SqliteSnapshot;
  readonly #idleMs: number;
  #idle: NodeJS.Timeout | undefined;

  constructor(path: string, seen: { last: number }, idleMs: number, cacheKib?: number) {
    this.#idleMs = idleMs;
    this.#db = openForReading(path, cacheKib);
    this.#intake = new IntakeView(this.#db, seen);
    this.reader = new SqliteReader(this.#db, this.#intake);
    this.snapshot = new SqliteSnapshot(this.#db, this.#intake);
  }

  async inTransaction<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    // The last one did not come to its end: it would stand in the way of all that follow.
    if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    this.#db.exec('BEGIN');
    try {
      this.#intake.refresh();
      return await work(this);
    } finally {
      this.#db.exec('COMMIT');
      this.#idle = setTimeout(() => this.#intake.letGo(), this.#idleMs).unref();
    }
  }
}

/**
 * Lets jobs of one thread run beside each other, each in a transaction of its own: a long one gives way between its
 * pages (see `SqliteSnapshot`), so that no job waits for the end of another's.
 */
export class Lanes {
  readonly #connections: ResourcePool<Connection>;

  constructor(path: string, idleMs = IDLE_MS) {
    const seen = { last: 0 };
    const make = (made: number): Connection =>
      new Connection(path, seen, idleMs, made === 0 ? undefined : OTHERS_CACHE_KIB);
    this.#connections = new ResourcePool(MAX_LANES, make);
  }

  run<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    return this.#connections.use((connection) => connection.inTransaction(work));
  }
}

/** Opens the file for reading only; `cacheKib`: size of the cache. */
export function openForReading(path: string, cacheKib = 8_192): Sqlite.Database {
  const db = new Sqlite(path, { fileMustExist: true, readonly: true });
  db.pragma('busy_timeout = 2000');
  db.pragma(`cache_size = -${cacheKib}`);
  return db;
}

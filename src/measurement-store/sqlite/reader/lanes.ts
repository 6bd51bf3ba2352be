import type Sqlite from 'better-sqlite3';
import { IntakeView } from './intake-view.ts';
import { openForReading } from './open-for-reading.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteSnapshot } from './sqlite-snapshot.ts';

/** As many jobs as are under way at once; the others wait. */
const MAX_LANES = 4;
/** What is read again and again is in the first one's memory; the others are there for what comes beside long work. */
const OTHERS_CACHE_KIB = 2_048;

/** What a job reads with: one transaction. */
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

  constructor(path: string, cacheKib?: number) {
    this.#db = openForReading(path, cacheKib);
    this.#intake = new IntakeView(this.#db);
    this.reader = new SqliteReader(this.#db, this.#intake);
    this.snapshot = new SqliteSnapshot(this.#db, this.#intake);
  }

  async inTransaction<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    this.#db.exec('BEGIN');
    try {
      this.#intake.refresh();
      return await work(this);
    } finally {
      this.#db.exec('COMMIT');
    }
  }
}

/**
 * Lets jobs of one thread run beside each other, each in a transaction of its own: a long one gives way between its pages
 * (see `SqliteSnapshot`), so that nobody waits for the end of what somebody else asked.
 */
export class Lanes {
  readonly #path: string;
  readonly #free: Connection[];
  readonly #waiting: ((connection: Connection) => void)[] = [];
  #opened = 1;

  constructor(path: string) {
    this.#path = path;
    this.#free = [new Connection(path)];
  }

  /** In the order of the calls as far as they wait. */
  async run<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const connection = await this.#take();
    try {
      return await connection.inTransaction(work);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(connection);
      else this.#free.push(connection);
    }
  }

  #take(): Connection | Promise<Connection> {
    const free = this.#free.pop();
    if (free) return free;
    if (this.#opened === MAX_LANES) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = new Connection(this.#path, OTHERS_CACHE_KIB);
    this.#opened += 1;
    return connection;
  }
}

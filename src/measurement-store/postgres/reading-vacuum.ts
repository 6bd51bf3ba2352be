import type pg from 'pg';
import type { StoreLog } from '../store-options.ts';
import { must } from '../../must.ts';

/** Minimum rows gone for a vacuum: only a file or a device's past that moved into chunks leaves so many at once. */
const LEAST_ROWS = 200_000;
/** Minimum part of the table, as autovacuum has it: less would read the indexes of a busy table again and again. */
const LEAST_PART = 0.2;
const LONGEST_MS = 600_000;

/**
 * Vacuums `reading` at once after many rows are gone: they stay in its indexes until then, and each chart steps over
 * them. Autovacuum comes only minutes later.
 */
export class ReadingVacuum {
  readonly #pool: pg.Pool;
  readonly #log: StoreLog | undefined;
  #gone = 0;
  #running: Promise<void> | null = null;
  #processId: number | null = null;

  constructor(pool: pg.Pool, log: StoreLog | undefined) {
    this.#pool = pool;
    this.#log = log;
  }

  noteGone(rows: number): void {
    this.#gone += rows;
  }

  /** Never rejects: a failure is logged, autovacuum will do it. Resolves when a due vacuum is done. */
  async runIfDue(): Promise<void> {
    if (this.#running === null && this.#gone >= LEAST_ROWS)
      this.#running = this.#run().finally(() => (this.#running = null));
    await this.#running;
  }

  /** Ends the vacuum under way. */
  async stop(): Promise<void> {
    this.#gone = 0;
    if (this.#processId !== null)
      await this.#pool.query('SELECT pg_cancel_backend($1)', [this.#processId]).catch(() => {});
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      const client = await this.#pool.connect();
      try {
        await this.#vacuum(client);
      } finally {
        this.#processId = null;
        client.release();
      }
    } catch (error) {
      this.#log?.warn({ err: error }, 'vacuuming the readings failed; autovacuum will do it');
    }
  }

  async #vacuum(client: pg.PoolClient): Promise<void> {
    const size = "SELECT reltuples FROM pg_class WHERE oid = 'reading'::regclass";
    const { rows } = await client.query<{ reltuples: number }>(size);
    if (this.#gone < must(rows[0]).reltuples * LEAST_PART) return;
    this.#gone = 0;
    this.#processId = Reflect.get(client, 'processID') as number | null;
    // A vacuum of another node is enough.
    const text = 'VACUUM (SKIP_LOCKED) reading';
    await client.query({ text, query_timeout: LONGEST_MS } as pg.QueryConfig);
  }
}

import type pg from 'pg';
import type { Purge } from '../domain/measurements/store.ts';
import type { StoreLog } from './store-log.ts';

const ROWS_A_SLICE = 5_000;
const RETRY_MS = 1_000;

/**
 * Works off the table `purge` in small transactions. Several nodes may do the same one at once: what is gone is gone.
 */
export class PostgresPurger {
  readonly #pool: pg.Pool;
  readonly #log: StoreLog | undefined;
  #running: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(pool: pg.Pool, log: StoreLog | undefined) {
    this.#pool = pool;
    this.#log = log;
  }

  async add(purges: Purge[]): Promise<void> {
    await this.#pool.query('INSERT INTO purge (device_key, field_key) SELECT * FROM unnest($1::int4[], $2::int4[])', [
      purges.map((purge) => purge.deviceKey),
      purges.map((purge) => purge.fieldKey),
    ]);
    this.start();
  }

  /** In the background. */
  start(): void {
    this.#again = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  /** Resolves after the slice under way; the next start goes on with the rest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        const { rows } = await this.#pool.query<{ id: number; device_key: number; field_key: number | null }>(
          'SELECT id, device_key, field_key FROM purge ORDER BY id LIMIT 100',
        );
        for (const row of rows) if (!this.#stopped) await this.#forget(row.id, row.device_key, row.field_key);
        if (rows.length > 0) this.#again = true;
      }
    } catch (error) {
      if (this.#stopped) return;
      this.#log?.warn({ err: error }, 'purging failed and will be tried again');
      this.#retry = setTimeout(() => this.start(), RETRY_MS).unref();
    }
  }

  async #forget(id: number, deviceKey: number, fieldKey: number | null): Promise<void> {
    const field = fieldKey === null ? '' : 'AND field_key = $2';
    const keys = fieldKey === null ? [deviceKey] : [deviceKey, fieldKey];
    let gone: number | null;
    do {
      const result = await this.#pool.query(
        `DELETE FROM measurement WHERE device_key = $1 AND (field_key, ts) IN (
           SELECT field_key, ts FROM measurement WHERE device_key = $1 ${field}
           ORDER BY field_key, ts LIMIT ${ROWS_A_SLICE})`,
        keys,
      );
      gone = result.rowCount;
      if (this.#stopped) return;
    } while (gone === ROWS_A_SLICE);
    if (fieldKey === null) await this.#pool.query('DELETE FROM device_state WHERE device_key = $1', [deviceKey]);
    await this.#pool.query('DELETE FROM purge WHERE id = $1', [id]);
  }
}

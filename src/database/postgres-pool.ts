import type pg from 'pg';

/** Time for an answer; with connecting it stays below 10 seconds. */
const ANSWER_MS = 3_000;
const OVERRULED = `
  SELECT set_config(name, wanted, false)
  FROM (VALUES ('synchronous_commit', 'on'), ('default_transaction_isolation', 'read committed')) AS relied_on (name, wanted)
  WHERE current_setting(name) IN ('off', 'repeatable read', 'serializable')`;

/** Settings of pg-pool with its `onConnect`, which it awaits although its types do not say so. */
export type PoolSettings = Omit<pg.PoolConfig, 'onConnect'> & { onConnect: (client: pg.ClientBase) => Promise<void> };

/**
 * Sets what a connection relies on, whatever the database's or role's defaults: durable commits, and after a lock wait
 * the latest committed rows.
 */
export async function setDefaults(client: pg.ClientBase): Promise<void> {
  await client.query({ text: OVERRULED, query_timeout: ANSWER_MS } as pg.QueryConfig);
}

/**
 * Keeps lost connections of a PostgreSQL pool from ending the process. Once one got no answer, all idle ones are thrown
 * away, so that callers do not wait for each in turn.
 */
export function watchPool(pool: pg.Pool, lost: (error: Error) => void = () => {}): void {
  // Queries on a lost connection reject by themselves.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error) => lost(error));
  pool.on('release', (broken: Error | boolean | undefined) => {
    if (!(broken instanceof Error) || typeof (broken as { code?: unknown }).code === 'string') return;
    // Takes each and gives it back as broken; a new one opened instead does no harm.
    for (let idle = pool.idleCount; idle > 0; idle--)
      pool.connect().then(
        (client) => client.release(true),
        () => {},
      );
  });
}

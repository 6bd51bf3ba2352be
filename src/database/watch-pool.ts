import type pg from 'pg';

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

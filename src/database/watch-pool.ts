import type pg from 'pg';

/**
 * Keeps a pool of PostgreSQL connections honest: connections that are lost never end the process, and once one of them
 * got no answer, those that lie idle (opened in the same world) are thrown away, so that nobody waits for each in turn.
 */
export function watchPool(pool: pg.Pool, lost: (error: Error) => void = () => {}): void {
  // What runs on a connection that is lost rejects by itself.
  pool.on('connect', (client) => client.on('error', () => {}));
  pool.on('error', (error) => lost(error));
  pool.on('release', (broken: Error | boolean | undefined) => {
    if (!(broken instanceof Error) || typeof (broken as { code?: unknown }).code === 'string') return;
    // Handed out, each is given back as broken; a new one opened instead of it is no harm.
    for (let idle = pool.idleCount; idle > 0; idle--)
      pool.connect().then(
        (client) => client.release(true),
        () => {},
      );
  });
}

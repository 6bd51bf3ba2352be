import pg from 'pg';
import type { StoreLog } from './store-log.ts';

/** pg-pool awaits it; its types do not say so. */
type PoolConfig = Omit<pg.PoolConfig, 'onConnect'> & { onConnect: (client: pg.ClientBase) => Promise<void> };

/** Connections whose commits are durable and whose bigints are numbers. */
export function openPool(url: string, max: number, log: StoreLog | undefined): pg.Pool {
  const config: PoolConfig = {
    connectionString: url,
    max,
    application_name: 'inlet',
    connectionTimeoutMillis: 5_000,
    // A server that is gone without a word must not hold receipts for ever.
    query_timeout: 20_000,
    keepAlive: true,
    // The acknowledgement promises durable commits, whatever the server's default is. Awaited before first use.
    onConnect: makeCommitsDurable,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
  const pool = new pg.Pool(config);
  // Without a listener a connection that is lost while idle would end the process.
  pool.on('error', (error) => log?.warn({ err: error }, 'an idle database connection was lost'));
  return pool;
}

async function makeCommitsDurable(client: pg.ClientBase): Promise<void> {
  await client.query(
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  );
}

function typeParser(oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text'): unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

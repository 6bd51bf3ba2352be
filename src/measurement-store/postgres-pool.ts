import pg from 'pg';
import type { StoreLog } from './store-log.ts';

const INT8_OID = 20;

/** Connections whose commits are durable and whose bigints are numbers. */
export function openPool(url: string, max: number, log: StoreLog | undefined): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'inlet',
    connectionTimeoutMillis: 5_000,
    // A server that is gone without a word must not hold receipts for ever.
    query_timeout: 20_000,
    keepAlive: true,
    // The acknowledgement promises durable commits, whatever the server's default is. Awaited before first use.
    onConnect: makeCommitsDurable as (client: pg.ClientBase) => void,
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        oid === INT8_OID ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  });
  // Without a listener a connection that is lost while idle would end the process.
  pool.on('error', (error) => log?.warn({ err: error }, 'an idle database connection was lost'));
  return pool;
}

async function makeCommitsDurable(client: pg.ClientBase): Promise<void> {
  await client.query(
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  );
}

import pg from 'pg';
import { watchPool } from '../../database/watch-pool.ts';
import type { StoreLog } from '../store-log.ts';

/**
 * Each statement of a snapshot takes a page from an index. Of a table that has grown since it was last analyzed the
 * planner thinks that sorting all of it is less: 880 ms for a page of 3 million readings instead of 0.6.
 */
const GO_ALONG_INDEXES = `SELECT ${['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
  .map((name) => `set_config('${name}', 'off', false)`)
  .join(', ')}`;

/** pg-pool awaits it; its types do not say so. */
type PoolConfig = Omit<pg.PoolConfig, 'onConnect'> & {
  pipeline: boolean;
  onConnect: (client: pg.ClientBase) => Promise<void>;
};

/**
 * Connections whose commits are durable and whose bigints are numbers; one stays when there is nothing to do.
 * `forReading`: several statements may be under way on one, and they are answered by going along an index.
 */
export function openPool(url: string, max: number, log: StoreLog | undefined, forReading = false): pg.Pool {
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    await makeCommitsDurable(client);
    if (forReading) await client.query(GO_ALONG_INDEXES);
  };
  const pool = new pg.Pool({ ...settings(url), min: 1, max, pipeline: forReading, onConnect } as PoolConfig);
  watchPool(pool, (error) => log?.warn({ err: error }, 'an idle database connection was lost'));
  return pool;
}

/**
 * One connection on which several statements may be under way, each a transaction of its own, run in the order of the
 * calls. It is opened when it is needed, and anew when it was lost or given up.
 */
export class PipelinedConnection {
  readonly #url: string;
  #client: Promise<pg.Client> | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async query<Row extends unknown[]>(statement: pg.QueryConfig & { rowMode?: 'array' }): Promise<Row[]> {
    const client = await (this.#client ??= this.#open());
    return (await client.query(statement)).rows as unknown as Row[];
  }

  /** The next statement gets a new connection; what is under way on this one is finished. */
  giveUp(): void {
    void this.end();
  }

  /** Resolves when what is under way is finished and the connection is closed. */
  async end(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.then((connected) => connected.end()).catch(() => {});
  }

  #open(): Promise<pg.Client> {
    const client = new pg.Client({ ...settings(this.#url), pipeline: true });
    const opened = client.connect().then(async () => {
      await makeCommitsDurable(client);
      return client;
    });
    const forget = (): void => {
      if (this.#client === opened) this.#client = null;
    };
    // What was under way rejects by itself.
    client.on('error', forget);
    client.on('end', forget);
    opened.catch(() => {
      forget();
      client.end().catch(() => {});
    });
    return opened;
  }
}

function settings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'inlet',
    connectionTimeoutMillis: 4_000,
    // A server that is gone without a word: with connecting, an answer within 10 seconds.
    query_timeout: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
}

/** The acknowledgement promises durable commits, whatever the server's default is. */
async function makeCommitsDurable(client: pg.ClientBase): Promise<void> {
  await client.query(
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  );
}

function typeParser(oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text'): unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PoolSettings, setDefaults } from '../../database/session-defaults.ts';
import { watchPool } from '../../database/watch-pool.ts';
import type { StoreLog } from '../store-log.ts';

/**
 * Each statement of a snapshot takes a page from an index. Of a table that has grown since it was last analyzed the
 * planner thinks that sorting all of it is less: 880 ms for a page of 3 million readings instead of 0.6.
 */
const GO_ALONG_INDEXES = `SELECT ${['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
  .map((name) => `set_config('${name}', 'off', false)`)
  .join(', ')}`;

/** Asked whether they may be, too: a service that only speaks PostgreSQL may have none of these. */
const NAME_SERVER = `SELECT set_config('inlet.server', system_identifier::text, false),
    CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_insert_lsn()) END
  FROM pg_control_system()`;
const NAME_NO_SERVER = "SELECT set_config('inlet.server', '', false)";
/** SQLSTATE classes of what a server cannot or may not do. */
const REFUSED = /^(0A|42)/;

/** On this connection `HISTORY` in `recorded-select.ts` is known from now on. Rejects with the driver's error. */
export async function nameServer(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(NAME_SERVER);
  } catch (error) {
    if (!REFUSED.test((error as { code?: string }).code ?? '')) throw error;
    await client.query(NAME_NO_SERVER);
  }
}

/**
 * Connections whose commits are durable and whose bigints are numbers; one stays when there is nothing to do.
 * `forReading`: several statements may be under way on one, and they are answered by going along an index.
 */
export function openPool(url: string, max: number, log: StoreLog | undefined, forReading = false): pg.Pool {
  const onConnect = async (client: pg.ClientBase): Promise<void> => {
    await setDefaults(client);
    if (!forReading) return;
    await client.query(GO_ALONG_INDEXES);
    await nameServer(client);
  };
  const pool = new pg.Pool({ ...settings(url), min: 1, max, pipeline: forReading, onConnect } as PoolSettings);
  watchPool(pool, (error) => log?.warn({ err: error }, 'an idle database connection was lost'));
  return pool;
}

/** What the server says of the statement alone: nothing of it was stored, and the connection is as good as before. */
const COMPLAINTS = { keyExists: '23505', notSerializable: '40001', deadlock: '40P01', locked: '55P03' };
/** A statement is refused when what it may have begun was ended, or so many ms later. */
const ENDING_MS = 1_000;
/**
 * A process that was told to end stores no row any more: it looks before each, and after the last. The rows that it has
 * stored by then are locked until its end: who writes them again waits, and counts.
 */
const END_FORMER =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()';

/**
 * One connection on which several statements may be under way, each a transaction of its own, run in the order of the
 * calls. It is opened when it is needed, and anew when a statement failed on it: what of the former one may still be
 * under way in the database is ended before anything else is sent, else it would be stored over what came later.
 */
export class PipelinedConnection {
  readonly #url: string;
  /** How the database knows the connections of this object. */
  readonly #name = `inlet writer ${randomUUID().slice(0, 8)}`;
  #client: Promise<pg.Client> | null = null;
  #ended = false;

  constructor(url: string) {
    this.#url = url;
  }

  async query<Row extends unknown[]>(statement: pg.QueryConfig & { rowMode?: 'array' }): Promise<Row[]> {
    const opened = (this.#client ??= this.#open());
    const client = await opened;
    try {
      return (await client.query(statement)).rows as unknown as Row[];
    } catch (error) {
      if (!isComplaint(error)) await this.#replace(opened);
      throw error;
    }
  }

  /** Resolves when what is under way is finished and the connection is closed. */
  async end(): Promise<void> {
    this.#ended = true;
    const client = this.#client;
    this.#client = null;
    await client?.then((connected) => connected.end()).catch(() => {});
  }

  /** Whatever it was, a new connection may do better: the server may be a former primary. */
  async #replace(failed: Promise<pg.Client>): Promise<void> {
    if (this.#client === failed) this.#client = null;
    void failed.then((client) => client.end()).catch(() => {});
    if (this.#ended) return;
    // At once, and not with the next statement: whoever is refused may send it to another node.
    this.#client ??= this.#open();
    await Promise.race([this.#client.catch(() => {}), sleep(ENDING_MS, undefined, { ref: false })]);
  }

  #open(): Promise<pg.Client> {
    const client = new pg.Client({ ...settings(this.#url), application_name: this.#name, pipeline: true });
    const opened = client.connect().then(async () => {
      await Promise.all([setDefaults(client), client.query(END_FORMER, [this.#name])]);
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

/** Whether a statement failed with one of `kinds`, or any of them. */
export function isComplaint(error: unknown, ...kinds: (keyof typeof COMPLAINTS)[]): boolean {
  const { code } = error as { code?: string };
  return Object.entries(COMPLAINTS).some(
    ([kind, state]) => state === code && (kinds.length === 0 || kinds.includes(kind as keyof typeof COMPLAINTS)),
  );
}

function settings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'inlet',
    connectionTimeoutMillis: 4_000,
    // A server that is gone without a word: with connecting, an answer within 10 seconds.
    query_timeout: 5_000,
    // What somebody else has locked is given up by the server itself, before us: it would wait on when we have gone.
    lock_timeout: 4_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
}

function typeParser(oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text'): unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PoolSettings, setDefaults, watchPool } from '../../database/postgres-pool.ts';
import type { StoreLog } from '../store-options.ts';

/**
 * Makes each statement of a snapshot take a page from an index: for a table that has grown since it was last analyzed
 * the planner prefers sorting all of it.
 */
const GO_ALONG_INDEXES = `SELECT ${['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'jit']
  .map((name) => `set_config('${name}', 'off', false)`)
  .join(', ')}`;

/** Asked whether they may be, too: a service that only speaks PostgreSQL may have none of these. */
const NAME_SERVER = `SELECT set_config('inlet.server', system_identifier::text, false),
    CASE WHEN NOT pg_is_in_recovery() THEN pg_walfile_name(pg_current_wal_insert_lsn()) END
  FROM pg_control_system()`;
const NAME_NO_SERVER = "SELECT set_config('inlet.server', '', false)";
/** SQLSTATE classes of statements that a server cannot or may not run. */
const REFUSED = /^(0A|42)/;

/** Makes `HISTORY` of `recorded-select.ts` known on this connection. Rejects with the driver's error. */
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

/** Errors about the statement alone: nothing of it was stored, and the connection is as good as before. */
const COMPLAINTS = { keyExists: '23505', notSerializable: '40001', deadlock: '40P01', locked: '55P03' };
/** Maximum milliseconds until a failed statement is refused; earlier, when its backend was ended. */
const ENDING_MS = 1_000;
/**
 * Ends former backends. A process that was told to end stores no row any more: it looks before each, and after the
 * last. The rows that it has stored by then are locked until its end: a later write of them waits, and counts.
 */
const END_FORMER =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()';

/**
 * One connection on which several statements may be under way, each a transaction of its own, run in the order of the
 * calls. It is opened when it is needed, and anew when a statement failed on it: statements of the former one that may
 * still be under way in the database are ended before anything else is sent, else they would be stored over later ones.
 */
export class PipelinedConnection {
  readonly #url: string;
  /** Name by which the database knows the connections of this object. */
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
      return (await client.query<Row>(statement)).rows;
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

  /** Replaces a failed connection, whatever the error: the server may be a former primary. */
  async #replace(failed: Promise<pg.Client>): Promise<void> {
    if (this.#client === failed) this.#client = null;
    void failed.then((client) => client.end()).catch(() => {});
    if (this.#ended) return;
    // At once, and not with the next statement: a refused caller may send it to another node.
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
    // Statements under way reject by themselves.
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
    // The server itself gives up on locked rows, before us: it would wait on when we have gone.
    lock_timeout: 4_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
}

function typeParser(oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text'): unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

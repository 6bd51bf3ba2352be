import { randomInt, randomUUID } from 'node:crypto';
import pg from 'pg';
import type { NodePlace } from '../domain/measurements/receipt-times.ts';
import { type AppError, noDatabase } from '../errors.ts';
import type { DatabaseGuard } from './database-guard.ts';

interface GuardOptions {
  url: string;
  /** The lock is shared with nodes that talk by Redis. */
  shared: boolean;
  tell: (message: string) => void;
}

const LOCK = 738_193_003;
/** Lock of a node's place. */
const PLACE_LOCK = 738_193_004;
/** Number of places; each node gives times of its own, this many milliseconds apart. */
const PLACES = 8;
const LOOK_EVERY_MS = 2_000;
const ANSWER_MS = 4_000;
/** Maximum wait for a node that is being replaced. */
const WAIT_MS = 3_000;

/**
 * Advisory lock of a connection of its own, which dies with the process: shared among nodes that talk by Redis,
 * exclusive without. A lost connection is opened again; while another server has the database, nothing is acknowledged.
 */
export class PostgresGuard implements DatabaseGuard {
  readonly #options: GuardOptions;
  /** Name by which this node ends its own lost connections, which the database may think alive. */
  readonly #name = `inlet guard ${randomUUID().slice(0, 8)}`;
  #client: pg.Client | null = null;
  #place: NodePlace = { at: 0, of: 1 };
  #nodes = 1;
  #timer: NodeJS.Timeout | undefined;
  #refusal: AppError | null = null;
  #stopped = false;

  private constructor(options: GuardOptions) {
    this.#options = options;
  }

  /** Rejects when another server has the database, or it does not answer. */
  static async open(url: string, shared: boolean, tell: (message: string) => void): Promise<PostgresGuard> {
    const guard = new PostgresGuard({ url, shared, tell });
    const until = performance.now() + WAIT_MS;
    while (!(await guard.#lock())) {
      if (performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 200));
      else throw new Error(shared ? SHARED_REFUSED : ALONE_REFUSED);
    }
    guard.#lookLater();
    return guard;
  }

  /** Place of this node among those that share the database; beyond eight nodes some share a place. */
  get place(): NodePlace {
    return this.#place;
  }

  /** Number of nodes that share the database, this one included; the last known number if it does not answer. */
  async countNodes(): Promise<number> {
    if (this.#client !== null) await this.#count(this.#client).catch(() => {});
    return this.#nodes;
  }

  get refusal(): AppError | null {
    return this.#refusal;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#drop();
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#look().finally(() => this.#lookLater()), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const before = this.#refusal;
    try {
      if (this.#client !== null) await this.#count(this.#client);
      else if (await this.#lock()) this.#refusal = null;
      else this.#refusal ??= noDatabase(new Error(this.#options.shared ? SHARED_REFUSED : ALONE_REFUSED));
    } catch {
      // The database is away; the lock is taken again when it is back.
      await this.#drop();
    }
    if (this.#refusal === before) return;
    if (this.#refusal === null) this.#options.tell('The database is this server’s again.');
    else this.#options.tell(`Nothing is stored any more: ${(this.#refusal.cause as Error).message}.`);
  }

  async #lock(): Promise<boolean> {
    const client = new pg.Client({
      connectionString: this.#options.url,
      application_name: this.#name,
      connectionTimeoutMillis: ANSWER_MS,
      keepAlive: true,
    });
    client.on('error', () => (this.#client = null));
    try {
      await client.connect();
      await ask(client, NOTICE_POWER_LOSS);
      const ghosts = await ask(
        client,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${this.#name}' AND pid <> pg_backend_pid()`,
      );
      if (ghosts.length > 0) await new Promise((resolve) => setTimeout(resolve, 300));
      const [row] = await ask(
        client,
        `SELECT pg_try_advisory_lock${this.#options.shared ? '_shared' : ''}(${LOCK}) AS locked`,
      );
      if (row?.['locked'] !== true) {
        void client.end().catch(() => {});
        return false;
      }
      if (this.#options.shared) this.#place = await takePlace(client, this.#place);
      await this.#count(client);
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    return true;
  }

  async #count(client: pg.Client): Promise<void> {
    const [row] = await ask(client, COUNT_NODES);
    this.#nodes = Number(row?.['nodes']);
  }

  async #drop(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    // Closing a silent connection would take minutes.
    await Promise.race([client?.end().catch(() => {}), new Promise((resolve) => setTimeout(resolve, 500).unref())]);
  }
}

/**
 * Ends sessions of hosts that lost power within seconds: by default they would hold the lock for two hours. Set after
 * connecting, as poolers take no such options.
 */
const NOTICE_POWER_LOSS = `SELECT ${Object.entries({ idle: 10, interval: 5, count: 3 })
  .map(([name, value]) => `set_config('tcp_keepalives_${name}', '${value}', false)`)
  .join(', ')}`;

/** Counts the holders of the lock on this database. */
const COUNT_NODES = `
  SELECT count(*)::int AS nodes FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${LOCK} AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const ALONE_REFUSED =
  'another Inlet is running on this database. Nodes that share one need the same REDIS_URL, each of them';
const SHARED_REFUSED = 'an Inlet without REDIS_URL is running on this database. Stop it, or give it the same REDIS_URL';

/**
 * Takes a place until the connection ends; its earlier one if that is free, as nodes that lost their connections use
 * theirs until they notice.
 */
async function takePlace(client: pg.Client, { at }: NodePlace): Promise<NodePlace> {
  const places = `SELECT (${at} + n) % ${PLACES} AS place FROM generate_series(0, ${PLACES - 1}) AS n OFFSET 0`;
  const free = `SELECT place FROM (${places}) AS places WHERE pg_try_advisory_lock(${PLACE_LOCK}, place) LIMIT 1`;
  const [row] = await ask(client, free);
  return { at: Number(row?.['place'] ?? randomInt(PLACES)), of: PLACES };
}

async function ask(client: pg.Client, text: string): Promise<Record<string, unknown>[]> {
  const { rows } = await client.query<Record<string, unknown>>({ text, query_timeout: ANSWER_MS } as pg.QueryConfig);
  return rows;
}

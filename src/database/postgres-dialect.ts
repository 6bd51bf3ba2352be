import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { type End, FairSemaphore } from '../scheduling/fair-semaphore.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { type PoolSettings, setDefaults } from './session-defaults.ts';
import { TransactionDriver } from './transaction-driver.ts';
import { watchPool } from './watch-pool.ts';

/** How long the database may take, in milliseconds; read anew for each use. */
export interface Patience {
  /** For a new connection; and for a free one of the pool, while none becomes free. */
  connect: number;
  /** For a statement, the way there and back included. */
  statement: number;
}

/** Is told the server's process that was asked to commit and did not say what became of that. */
export type InDoubt = (backend: number) => void;

/** How the server names these connections. */
export const CATALOGUE = 'inlet catalogue';
const CONNECTIONS = 8;
/** A row that somebody else has locked, and a transaction whose client fell silent, are let go by the server. */
const LOCK_MS = 4_000;
const IDLE_IN_TRANSACTION_MS = 5_000;
/** What may have ended the connection, by SQLSTATE: a server that speaks another language has other words for ERROR and FATAL. */
const MAY_END = /^(?:08|25P0[34]|28|3D|53|57P|58|F0|XX)/;

/**
 * The catalogue's connections to PostgreSQL, as MikroORM wants them. A connection on which anything but a statement's
 * own complaint went wrong (no answer in time, lost, terminated) is thrown away when it comes back; Kysely's own driver
 * never takes one back whose BEGIN or ROLLBACK failed. Every failure has an SQLSTATE as `code`: 08006 is whatever is about
 * the connection.
 */
export function postgresDialect(connectionString: string, patience: Patience, inDoubt: InDoubt): Dialect {
  return {
    createDriver: () => new PostgresPoolDriver(connectionString, patience, inDoubt),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<never>) => new PostgresIntrospector(db),
  };
}

class PostgresPoolDriver extends TransactionDriver {
  readonly #pool: pg.Pool;
  /** The pool's own line is one for all: one operation may ask 190 things at once. */
  readonly #slots: FairSemaphore;
  readonly #patience: Patience;
  readonly #inDoubt: InDoubt;

  constructor(connectionString: string, patience: Patience, inDoubt: InDoubt) {
    super();
    this.#patience = patience;
    this.#inDoubt = inDoubt;
    this.#slots = new FairSemaphore(CONNECTIONS, { stalledMs: patience.connect, stalledError: noneFree });
    this.#pool = new pg.Pool({
      connectionString,
      max: CONNECTIONS,
      application_name: CATALOGUE,
      connectionTimeoutMillis: patience.connect,
      lock_timeout: LOCK_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      onConnect: setDefaults,
    } as PoolSettings);
    watchPool(this.#pool);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const end = await this.#slots.take(currentCaller());
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#patience, end);
    } catch (error) {
      end({ failed: true });
      // Whatever it is, such as a socket's file that is gone, or a certificate that has expired.
      throw lost(error);
    }
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as PostgresConnection).release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw('begin'));
    } catch (error) {
      (connection as PostgresConnection).doom(error);
      (connection as PostgresConnection).release();
      throw error;
    }
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.commitTransaction(connection);
    } catch (error) {
      const { backend } = connection as PostgresConnection;
      if (backend !== null) this.#inDoubt(backend);
      throw error;
    }
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // When it fails, even as a statement does that is cancelled, the transaction goes on: the release that follows throws
    // the connection away, and the server rolls back.
    await connection
      .executeQuery(CompiledQuery.raw('rollback'))
      .catch((error: unknown) => (connection as PostgresConnection).doom(error));
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #patience: Patience;
  readonly #end: End;
  /** What makes this connection unfit for others. */
  #doom: Error | null = null;

  constructor(client: pg.PoolClient, patience: Patience, end: End) {
    this.#client = client;
    this.#patience = patience;
    this.#end = end;
  }

  /** The server's process, when it did not say what became of the last statement; else null. */
  get backend(): number | null {
    return this.#doom === null ? null : (this.#client as unknown as { processID: number }).processID;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#doom !== null) throw lost(this.#doom);
    try {
      const statement = { text: sql, values: [...parameters], query_timeout: this.#patience.statement };
      const { command, rowCount, rows } = await this.#client.query(statement as pg.QueryConfig);
      return command === 'SELECT' ? { rows } : { rows: rows ?? [], numAffectedRows: BigInt(rowCount ?? 0) };
    } catch (error) {
      if (!isComplaint(error)) this.doom(error);
      throw isWordOfServer(error) ? error : lost(error);
    }
  }

  /** Nobody gets it after this. */
  doom(reason: unknown): void {
    this.#doom ??= reason instanceof Error ? reason : new Error(String(reason));
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('the catalogue reads no streams');
  }

  release(): void {
    this.#client.release(this.#doom ?? undefined);
    this.#end({ failed: this.#doom !== null });
  }
}

/** Something that the server said of the statement: the connection is as good as before. */
function isComplaint(error: unknown): boolean {
  return isWordOfServer(error) && (error.severity === 'ERROR' || !MAY_END.test(error.code ?? 'XX'));
}

/** What the driver or the system says is about the connection, and so is what the server ends it with. */
function isWordOfServer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.severity !== 'FATAL' && error.severity !== 'PANIC';
}

function noneFree(): Error {
  return lost('no connection became free');
}

function lost(cause: unknown): Error {
  return Object.assign(new Error(cause instanceof Error ? cause.message : String(cause), { cause }), { code: '08006' });
}

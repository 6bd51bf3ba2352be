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
import { type End, Lane } from '../scheduling/lane.ts';
import { LANES } from '../scheduling/lanes.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { type PoolSettings, setDefaults, watchPool } from './postgres-pool.ts';
import { TransactionDriver } from './transaction-driver.ts';

/** Maximum times of the database in milliseconds, read anew for each use. */
export interface Patience {
  /** Time for a new connection, or for the pool to free one. */
  connect: number;
  /** Time for a statement, with both ways. */
  statement: number;
}

/** Called with the backend that was asked to commit and did not answer. */
export type InDoubt = (backend: number) => void;

/** Name of these connections in the server. */
export const CATALOGUE = 'inlet catalogue';
const CONNECTIONS = LANES.postgresCatalogue.atOnce;
/** Time after which the server gives up a lock wait, and an idle transaction. */
const LOCK_MS = 4_000;
const IDLE_IN_TRANSACTION_MS = 5_000;
/** SQLSTATEs that may have ended the connection; the words ERROR and FATAL depend on the server's language. */
const MAY_END = /^(?:08|25P0[34]|28|3D|53|57P|58|F0|XX)/;

/**
 * Connections of the catalogue to PostgreSQL, for MikroORM. A connection that failed otherwise than by a statement's
 * own error (no answer in time, lost, terminated) is thrown away when it comes back; Kysely's own driver loses one
 * whose BEGIN or ROLLBACK failed. Every failure has an SQLSTATE as `code`: 08006 for connection failures.
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
  /** The pool has one queue for all callers; this one is fair. */
  readonly #slots: Lane;
  readonly #patience: Patience;
  readonly #inDoubt: InDoubt;

  constructor(connectionString: string, patience: Patience, inDoubt: InDoubt) {
    super();
    this.#patience = patience;
    this.#inDoubt = inDoubt;
    this.#slots = new Lane(LANES.postgresCatalogue, { stalledMs: patience.connect, stalledError: noneFree });
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
      // Any failure, such as a missing socket or an expired certificate.
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
    // If it fails, the transaction is still open: release throws the connection away, and the server rolls back.
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
  /** Reason why this connection is unfit for others. */
  #doom: Error | null = null;

  constructor(client: pg.PoolClient, patience: Patience, end: End) {
    this.#client = client;
    this.#patience = patience;
    this.#end = end;
  }

  /** Process id of the backend if it did not answer the last statement; else null. */
  get backend(): number | null {
    return this.#doom === null ? null : (Reflect.get(this.#client, 'processID') as number);
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

  /** Marks the connection as unfit for others. */
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

/** Whether the error is about the statement only, so that the connection is still good. */
function isComplaint(error: unknown): boolean {
  return isWordOfServer(error) && (error.severity === 'ERROR' || !MAY_END.test(error.code ?? 'XX'));
}

/**
 * Whether the server reported the error; errors of the driver, the system and a closing server are about the
 * connection.
 */
function isWordOfServer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && error.severity !== 'FATAL' && error.severity !== 'PANIC';
}

function noneFree(): Error {
  return lost('no connection became free');
}

function lost(cause: unknown): Error {
  return Object.assign(new Error(cause instanceof Error ? cause.message : String(cause), { cause }), { code: '08006' });
}

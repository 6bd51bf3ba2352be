import Sqlite from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { LRUCache } from 'lru-cache';
import { lruCache } from '../scheduling/lru-cache.ts';
import { ConnectionTurns } from './connection-turns.ts';
import { TransactionDriver } from './transaction-driver.ts';

/**
 * The catalogue's one connection to a SQLite file, for MikroORM. Kysely's own driver loses the connection when BEGIN or
 * ROLLBACK fails (disk full, I/O error), and then waits without end; here a connection that cannot roll back is closed
 * and opened anew. Failures reject with the driver's error and its `code`.
 */
export function sqliteDialect(open: () => Sqlite.Database): Dialect {
  return {
    createDriver: () => new SqliteConnectionDriver(open),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ManyWaiters(),
    createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
  };
}

/** Avoids Kysely's mutex without a time limit; the driver has its own queue. */
class ManyWaiters extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SqliteConnectionDriver extends TransactionDriver {
  readonly #open: () => Sqlite.Database;
  readonly #file: OpenFile;
  readonly #turns = new ConnectionTurns();

  constructor(open: () => Sqlite.Database) {
    super();
    this.#open = open;
    this.#file = new OpenFile(open());
  }

  /** Only a transaction takes the connection: look-ups are synchronous. */
  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.#file, this.#turns);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as SqliteConnection).end();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const mine = connection as SqliteConnection;
    await mine.begin();
    try {
      this.#file.database.exec('begin');
    } catch (error) {
      this.#renew();
      mine.end();
      throw error;
    }
  }

  async rollbackTransaction(): Promise<void> {
    try {
      // After some errors (disk full) SQLite has rolled back on its own.
      if (this.#file.database.inTransaction) this.#file.database.exec('rollback');
    } catch {
      this.#renew();
    }
  }

  async destroy(): Promise<void> {
    this.#file.database.close();
  }

  #renew(): void {
    const before = this.#file.database;
    try {
      this.#file.database = this.#open();
      before.close();
    } catch {
      // The file cannot be opened: the next statement fails with its reason, the next rollback tries again.
    }
  }
}

/** Maximum text of all prepared statements. */
const MAX_STATEMENTS_TEXT = 500_000;

function newStatements(): LRUCache<string, Sqlite.Statement<unknown[]>> {
  return lruCache(MAX_STATEMENTS_TEXT, ({ source }) => source.length);
}

/** The file with its prepared statements. */
class OpenFile {
  #database: Sqlite.Database;
  /** Kept by text, as preparing takes most of a look-up's time. */
  #statements = newStatements();

  constructor(database: Sqlite.Database) {
    this.#database = database;
  }

  get database(): Sqlite.Database {
    return this.#database;
  }

  set database(database: Sqlite.Database) {
    this.#database = database;
    this.#statements = newStatements();
  }

  run<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    const statement = this.#statement(sql);
    if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { insertId: BigInt(lastInsertRowid), numAffectedRows: BigInt(changes), rows: [] };
  }

  #statement(sql: string): Sqlite.Statement<unknown[]> {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare<unknown[]>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The connection as one unit of work sees it. */
class SqliteConnection implements DatabaseConnection {
  readonly #file: OpenFile;
  readonly #turns: ConnectionTurns;
  #isInTransaction = false;

  constructor(file: OpenFile, turns: ConnectionTurns) {
    this.#file = file;
    this.#turns = turns;
  }

  async begin(): Promise<void> {
    await this.#turns.begin();
    this.#isInTransaction = true;
  }

  end(): void {
    if (this.#isInTransaction) this.#turns.end();
    this.#isInTransaction = false;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // The transaction has the connection alone.
    if (this.#isInTransaction) return this.#file.run<Row>(query);
    return this.#turns.read(() => this.#file.run<Row>(query));
  }

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('the catalogue reads no streams');
  }
}

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
import { LruMap } from '../domain/lru-map.ts';
import { TransactionDriver } from './transaction-driver.ts';

/** How long a unit of work waits for the one connection before it is refused. */
const WAIT_MS = 8_000;

/**
 * The catalogue's one connection to a SQLite file, as MikroORM wants it. Kysely's own driver never gives the connection
 * back when BEGIN or ROLLBACK fails (disk full, I/O error), and waits for it without end; this one does neither: a
 * connection that cannot roll back is closed and opened anew. Failures reject with the driver's error and its `code`.
 */
export function sqliteDialect(open: () => Sqlite.Database): Dialect {
  return {
    createDriver: () => new SqliteConnectionDriver(open),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: () => new ManyWaiters(),
    createIntrospector: (db: Kysely<never>) => new SqliteIntrospector(db),
  };
}

/** Kysely would put a mutex without a time limit in front of the driver, which keeps its own line. */
class ManyWaiters extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

class SqliteConnectionDriver extends TransactionDriver {
  readonly #open: () => Sqlite.Database;
  readonly #line: (() => void)[] = [];
  readonly #connection: SqliteConnection;
  #taken = false;

  constructor(open: () => Sqlite.Database) {
    super();
    this.#open = open;
    this.#connection = new SqliteConnection(open());
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#taken) await this.#turn();
    this.#taken = true;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    const next = this.#line.shift();
    // Handed over without ever being free, so that nobody slips in between.
    if (next !== undefined) next();
    else this.#taken = false;
  }

  async beginTransaction(): Promise<void> {
    try {
      this.#connection.database.exec('begin');
    } catch (error) {
      this.#renew();
      await this.releaseConnection();
      throw error;
    }
  }

  async rollbackTransaction(): Promise<void> {
    try {
      // After some errors (disk full) SQLite has rolled back on its own.
      if (this.#connection.database.inTransaction) this.#connection.database.exec('rollback');
    } catch {
      this.#renew();
    }
  }

  async destroy(): Promise<void> {
    this.#connection.database.close();
  }

  #renew(): void {
    const before = this.#connection.database;
    try {
      this.#connection.database = this.#open();
      before.close();
    } catch {
      // The file cannot be opened now: the next statement fails with its reason, and the next rollback tries again.
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const mine = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(mine), 1);
        reject(
          Object.assign(new Error(`the database was busy for ${WAIT_MS / 1000} seconds`), { code: 'SQLITE_BUSY' }),
        );
      }, WAIT_MS);
      this.#line.push(mine);
    });
  }
}

/** Together: the length of their texts. */
const MAX_STATEMENTS_TEXT = 500_000;

function newStatements(): LruMap<string, Sqlite.Statement<unknown[]>> {
  return new LruMap({ most: MAX_STATEMENTS_TEXT, sizeOf: ({ source }) => source.length });
}

class SqliteConnection implements DatabaseConnection {
  #database: Sqlite.Database;
  /** Of the same text, most of the time of a look-up by key goes into making one. */
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

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
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

  // oxlint-disable-next-line require-yield
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('the catalogue reads no streams');
  }
}

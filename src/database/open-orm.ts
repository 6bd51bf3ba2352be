import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql';
import type { MikroORM } from '@mikro-orm/sql';
import { MikroORM as SqliteOrm } from '@mikro-orm/sqlite';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { MIGRATIONS } from '../../migrations/list.ts';
import { ENTITIES } from '../domain/entities/entities.ts';
import { makeFolder } from './make-folder.ts';
import { type InDoubt, type Patience, postgresDialect } from './postgres-dialect.ts';
import { sqliteDialect } from './sqlite-dialect.ts';

const common = {
  entities: ENTITIES,
  extensions: [Migrator],
  migrations: { migrationsList: MIGRATIONS, snapshot: false, silent: true, tableName: 'migration' },
  /** Tables of the store and of SQLite are no entities. */
  schemaGenerator: {
    skipTables: [
      /^sqlite_stat/,
      'reading',
      'reading_part',
      'intake',
      'chunk',
      'device_state',
      'live_horizon',
      'webhook_call',
      'shared_value',
      'purge',
      'removed_field',
      'absorbed_device',
      'moved_device',
      'moved_field',
      'delivery',
      'delivery_lane',
      'firing_alert',
      'outgoing_reader',
      'silent_device',
      'workspace_day',
      'migration',
      'heartbeat',
    ],
  },
};

/** Connecting and one statement together stay below the 10 seconds in which every caller gets an answer. */
const PATIENCE: Patience = { connect: 4_000, statement: 5_000 };
/** Maximum time of a migration, which may rewrite a table; the other nodes wait for it. */
const MIGRATION_MS = 3_600_000;

/** Page size of a new file. Small, because a changed reading writes its whole page to the log. */
const PAGE_BYTES = 1024;

/** Makes a missing file (mode 0600; SQLite gives its -wal and -shm the same) and its folder (0700). */
export function makeSqliteFile(path: string): void {
  makeFolder(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
}

/** Opens the SQLite file, made if missing, and brings it to the newest migration. Throws the driver's error. */
export async function openSqliteOrm(path: string): Promise<MikroORM> {
  makeSqliteFile(path);
  const first = open(path);
  first.pragma(`page_size = ${PAGE_BYTES}`);
  first.pragma('journal_mode = WAL');
  first.close();
  const orm = await SqliteOrm.init({ ...common, dbName: path, driverOptions: sqliteDialect(() => open(path)) });
  await orm.migrator.up();
  return orm;
}

function open(path: string): Sqlite.Database {
  const database = new Sqlite(path, { fileMustExist: true });
  // The store's writer thread checkpoints; here it would block the event loop.
  for (const pragma of ['synchronous = FULL', 'busy_timeout = 5000', 'foreign_keys = ON', 'wal_autocheckpoint = 0'])
    database.pragma(pragma);
  return database;
}

/**
 * Connects to PostgreSQL and migrates under an advisory lock, so that nodes may start together. Calls `inDoubt` for
 * each commit whose answer was lost.
 */
export async function openPostgresOrm(url: string, inDoubt: InDoubt = () => {}): Promise<MikroORM> {
  const patience = { ...PATIENCE };
  // The lock first, as it shows within seconds whether the database answers.
  const release = await lockMigrations(url);
  try {
    patience.statement = MIGRATION_MS;
    const driverOptions = postgresDialect(url, patience, inDoubt);
    const orm = await PostgresOrm.init({ ...common, clientUrl: url, driverOptions });
    await orm.migrator.up();
    patience.statement = PATIENCE.statement;
    return orm;
  } finally {
    await release();
  }
}

/** Refuses a new database whose encoding lacks characters, as names with them would fail. One in use goes on. */
const UNFIT_ENCODING = `SELECT current_setting('server_encoding') AS encoding
  WHERE current_setting('server_encoding') NOT IN ('UTF8', 'SQL_ASCII') AND to_regclass('migration') IS NULL`;

async function lockMigrations(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PATIENCE.connect, keepAlive: true });
  client.on('error', () => {});
  await client.connect();
  const query = async (text: string, query_timeout: number): Promise<Record<string, unknown> | undefined> =>
    (await client.query({ text, query_timeout } as pg.QueryConfig)).rows[0] as Record<string, unknown> | undefined;
  try {
    const unfit = await query(UNFIT_ENCODING, PATIENCE.statement);
    if (unfit !== undefined)
      throw new Error(`its encoding is ${String(unfit['encoding'])}, which lacks most characters: make it with UTF8`);
    await query('SELECT pg_advisory_lock(738193001)', MIGRATION_MS);
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return () => client.end().catch(() => {});
}

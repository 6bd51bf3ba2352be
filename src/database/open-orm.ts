import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql';
import type { MikroORM } from '@mikro-orm/sql';
import { MikroORM as SqliteOrm } from '@mikro-orm/sqlite';
import { MIGRATIONS } from '../../migrations/list.ts';
import { ENTITIES } from '../domain/entities/entities.ts';

const common = {
  entities: ENTITIES,
  extensions: [Migrator],
  migrations: { migrationsList: MIGRATIONS, snapshot: false, silent: true, tableName: 'migration' },
  /** The store's own tables are no entities. */
  schemaGenerator: { skipTables: ['measurement', 'inbox', 'device_state', 'webhook_call', 'purge', 'migration'] },
};

/** Opens the SQLite file (made if missing, folder included) and brings it to the newest migration. */
export async function openSqliteOrm(path: string): Promise<MikroORM> {
  mkdirSync(dirname(path), { recursive: true });
  const orm = await SqliteOrm.init({
    ...common,
    dbName: path,
    onCreateConnection: async (connection) => {
      const client = connection as { pragma?: (text: string) => unknown };
      // The store's writer thread checkpoints: it would hold up the event loop here.
      const pragmas = ['journal_mode = WAL', 'synchronous = FULL', 'busy_timeout = 5000', 'foreign_keys = ON'];
      for (const pragma of [...pragmas, 'wal_autocheckpoint = 0']) client.pragma?.(pragma);
    },
  });
  await orm.migrator.up();
  return orm;
}

/** Connects to PostgreSQL and migrates under an advisory lock, so that nodes may start together. */
export async function openPostgresOrm(url: string): Promise<MikroORM> {
  const orm = await PostgresOrm.init({
    ...common,
    clientUrl: url,
    pool: { min: 0, max: 8 },
    driverOptions: { connectionTimeoutMillis: 5_000 },
  });
  await migrateUnderLock(orm, url);
  return orm;
}

async function migrateUnderLock(orm: MikroORM, url: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock(738193001)');
    await orm.migrator.up();
  } finally {
    await client.end();
  }
}

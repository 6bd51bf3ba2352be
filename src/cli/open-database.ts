import { openPostgresOrm, openSqliteOrm } from '../database/open-orm.ts';
import { OrmDatabase } from '../database/orm-database.ts';
import { type Config, StartError } from '../config.ts';
import type { Database } from '../domain/ports/database.ts';
import { mustExist, sqliteFile } from './file-argument.ts';

/** Writes without turns: a command writes seldom, and SQLite makes it wait for the server. */
const turns = { take: () => Promise.resolve(() => {}) };

/** Opens the catalogue, perhaps beside a running server. Throws StartError if it cannot be opened. */
export async function openDatabase(config: Config): Promise<{ database: Database; close: () => Promise<void> }> {
  if (config.database.kind === 'sqlite') mustExist(sqliteFile({ config }));
  const opening =
    config.database.kind === 'postgres' ? openPostgresOrm(config.database.url) : openSqliteOrm(sqliteFile({ config }));
  const orm = await opening.catch((cause: unknown) => {
    throw new StartError('DATABASE_URL', 'the database cannot be opened', cause);
  });
  return { database: new OrmDatabase(orm, config.database.kind, turns), close: () => orm.close() };
}

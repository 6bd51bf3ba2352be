import type { CommandInput } from './command.ts';

/** The SQLite file in DATABASE_URL; throws, with what to use instead, for any other database. */
export function sqliteFile({ config }: Pick<CommandInput, 'config'>): string {
  const { database } = config;
  if (database.kind === 'postgres')
    throw new Error('DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore');
  if (database.inMemory) throw new Error('DATABASE_URL names no file');
  return database.path;
}

import { existsSync } from 'node:fs';
import type { CommandInput } from './command.ts';

/** The SQLite file that DATABASE_URL names; throws, saying what to use instead, when it names something else. */
export function sqliteFile({ config }: Pick<CommandInput, 'config'>): string {
  const { database } = config;
  if (database.kind === 'postgres')
    throw new Error('DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore');
  if (database.inMemory) throw new Error('DATABASE_URL names no file');
  return database.path;
}

/** The one file that a command is given; throws when there is none. */
export function fileArgument({ args }: Pick<CommandInput, 'args'>): string {
  const [file] = args;
  if (file === undefined || file === '' || args.length > 1) throw new Error('expected one FILE');
  return file;
}

/** Throws when nothing stands under this name. */
export function mustExist(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
}

import { existsSync } from 'node:fs';
import type { CommandInput } from './command.ts';

/** Format of a file of measurements: `.csv` or `.ndjson`, with `.gz` when it is packed. */
interface FileKind {
  format: 'csv' | 'ndjson';
  packed: boolean;
}

/** The command's one file; throws when there is none. */
export function fileArgument({ args }: Pick<CommandInput, 'args'>): string {
  const [file] = args;
  if (file === undefined || file === '' || args.length > 1) throw new Error('expected one FILE');
  return file;
}

/** Throws when the path exists. */
export function mustBeFree(path: string): void {
  if (existsSync(path)) throw new Error(`${path} is there already`);
}

/** Throws when the path does not exist. */
export function mustExist(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
}

/** Format by `format`, else by the name. Throws when neither says it. */
export function fileKind(path: string, format: string | undefined): FileKind {
  const packed = /\.gz$/i.test(path);
  const named = /\.(csv|ndjson|jsonl)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase();
  const said = format ?? (named === 'jsonl' ? 'ndjson' : named);
  if (said !== 'csv' && said !== 'ndjson')
    throw new Error('name the file .csv or .ndjson (with .gz behind it when it is packed), or say --format csv|ndjson');
  return { format: said, packed };
}

/** The SQLite file in DATABASE_URL; throws, with what to use instead, for any other database. */
export function sqliteFile({ config }: Pick<CommandInput, 'config'>): string {
  const { database } = config;
  if (database.kind === 'postgres')
    throw new Error('DATABASE_URL names a PostgreSQL database: use pg_dump and pg_restore');
  if (database.inMemory) throw new Error('DATABASE_URL names no file');
  return database.path;
}

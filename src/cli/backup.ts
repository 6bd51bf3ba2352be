import { copySqlite } from '../database/sqlite-copy.ts';
import type { CommandInput } from './command.ts';
import { fileArgument, mustBeFree, mustExist, sqliteFile } from './file-argument.ts';

/** `inlet backup FILE`: copies the SQLite database as it is at one moment, while others write. */
export async function backup(input: CommandInput): Promise<void> {
  const from = sqliteFile(input);
  const to = fileArgument(input);
  mustExist(from);
  mustBeFree(to);
  await copySqlite(from, to);
  console.log(`${to}: a copy of ${from}`);
}

import { existsSync, renameSync, rmSync } from 'node:fs';
import { copySqlite, findDamage } from '../database/sqlite-copy.ts';
import { SqliteGuard } from '../database/sqlite-guard.ts';
import type { CommandInput } from './command.ts';
import { fileArgument, mustExist } from './file-argument.ts';
import { sqliteFile } from './sqlite-file.ts';

/**
 * `inlet restore FILE`: a checked copy of the backup takes the place of the database in one move; what was there is kept
 * beside it as `.before-restore`. Refused while a server runs on it.
 */
export async function restore(input: CommandInput): Promise<void> {
  const from = fileArgument(input);
  const to = sqliteFile(input);
  mustExist(from);
  const damage = findDamage(from);
  if (damage.length > 0) throw new Error(`${from} is damaged: ${damage.join('; ')}`);
  const isNew = !existsSync(to);
  const guard = new SqliteGuard(to, () => {});
  try {
    const fresh = `${to}.restoring`;
    rmSync(fresh, { force: true });
    await copySqlite(from, fresh);
    if (!isNew) await copySqlite(to, `${to}.before-restore`, true);
    // The old file's log must never be read into the new one.
    for (const end of ['-wal', '-shm']) rmSync(`${to}${end}`, { force: true });
    renameSync(fresh, to);
  } finally {
    await guard.stop();
  }
  console.log(`${to}: restored from ${from}${isNew ? '' : `; what was there is in ${to}.before-restore`}`);
}

import { chownSync, copyFileSync, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { copySqlite, findDamage, goOnBeyondAll } from '../database/sqlite-copy.ts';
import { SqliteGuard } from '../database/sqlite-guard.ts';
import type { CommandInput } from './command.ts';
import { fileArgument, mustExist, sqliteFile } from './file-argument.ts';

/**
 * `inlet restore FILE`: puts a checked copy of the backup in place of the database in one move; the old database,
 * damaged or not, is kept as `.before-restore`. Refused while a server runs on it.
 */
export async function restore(input: CommandInput): Promise<void> {
  const from = fileArgument(input);
  const named = sqliteFile(input);
  mustExist(from);
  const damage = findDamage(from);
  if (damage.length > 0) throw new Error(`${from} is damaged: ${damage.join('; ')}`);
  const isNew = !existsSync(named);
  const guard = new SqliteGuard(named, () => {});
  // A link may lead to another disk.
  const to = realpathSync(named);
  const [kept, fresh] = [`${to}.before-restore`, `${to}.restoring`];
  // The file of an interrupted restore may be restored, too.
  const isTheSame = realpathSync(from) === fresh;
  try {
    await copySqlite(from, fresh, true);
    goOnBeyondAll(fresh);
    if (!isNew) await keep(to, kept);
    giveToOwner([fresh, kept, `${to}.lock`], isNew ? dirname(to) : to);
    // The old file's log must never be read into the new one.
    for (const end of ['-wal', '-shm']) rmSync(`${to}${end}`, { force: true });
    renameSync(fresh, to);
  } finally {
    if (!isTheSame) rmSync(fresh, { force: true });
    await guard.stop();
  }
  console.log(`${to}: restored from ${from}${isNew ? '' : `; what was there is in ${kept}`}`);
}

/** Keeps the database in one file if it can be read, else as it is, with its log. */
async function keep(path: string, kept: string): Promise<void> {
  for (const end of ['-wal', '-shm']) rmSync(`${kept}${end}`, { force: true });
  try {
    await copySqlite(path, kept, true);
  } catch (error) {
    if (!/^SQLITE_(?!FULL|BUSY)/.test((error as { code?: string }).code ?? '')) throw error;
    for (const end of ['', '-wal']) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${kept}${end}`);
  }
}

/** Gives files made by root to the owner of the database, so that the server can open them. */
function giveToOwner(paths: string[], like: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  for (const path of paths) if (existsSync(path)) chownSync(path, uid, gid);
}

import { chownSync, copyFileSync, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { copySqlite, findDamage } from '../database/sqlite-copy.ts';
import { SqliteGuard } from '../database/sqlite-guard.ts';
import type { CommandInput } from './command.ts';
import { fileArgument, mustExist } from './file-argument.ts';
import { sqliteFile } from './sqlite-file.ts';

/**
 * `inlet restore FILE`: a checked copy of the backup takes the place of the database in one move; what was there, damaged or
 * not, is kept beside it as `.before-restore`. Refused while a server runs on it.
 */
export async function restore(input: CommandInput): Promise<void> {
  const from = fileArgument(input);
  const named = sqliteFile(input);
  mustExist(from);
  const damage = findDamage(from);
  if (damage.length > 0) throw new Error(`${from} is damaged: ${damage.join('; ')}`);
  const isNew = !existsSync(named);
  const guard = new SqliteGuard(named, () => {});
  // A link leads to the disk that it is for.
  const to = realpathSync(named);
  const kept = `${to}.before-restore`;
  try {
    const fresh = `${to}.restoring`;
    await copySqlite(from, fresh, true);
    goOnBeyondAll(fresh);
    if (!isNew) await keep(to, kept);
    giveToOwner([fresh, kept, `${to}.lock`], isNew ? dirname(to) : to);
    // The old file's log must never be read into the new one.
    for (const end of ['-wal', '-shm']) rmSync(`${to}${end}`, { force: true });
    renameSync(fresh, to);
  } finally {
    await guard.stop();
  }
  console.log(`${to}: restored from ${from}${isNew ? '' : `; what was there is in ${kept}`}`);
}

/**
 * Cursors of live values that were given since the backup would name places of other values, which would be passed over: all
 * of them have expired. By the clock, so that it is also beyond what was given since the last time.
 */
function goOnBeyondAll(path: string): void {
  const database = new Sqlite(path, { fileMustExist: true });
  const last = ['reading', 'device_state', 'intake'].map((table) => `(SELECT coalesce(max(seq), 0) FROM ${table})`);
  database.prepare(`UPDATE live_horizon SET seq = max(?, seq, ${last.join(', ')}) + 1`).run(Date.now());
  database.close();
}

/** In one file, if it can be read; else as it is, with its log. */
async function keep(path: string, kept: string): Promise<void> {
  for (const end of ['-wal', '-shm']) rmSync(`${kept}${end}`, { force: true });
  try {
    await copySqlite(path, kept, true);
  } catch (error) {
    if (!/^SQLITE_(?!FULL|BUSY)/.test((error as { code?: string }).code ?? '')) throw error;
    for (const end of ['', '-wal']) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${kept}${end}`);
  }
}

/** Made by root, they would be shut to the server that runs as somebody else. */
function giveToOwner(paths: string[], like: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(like);
  for (const path of paths) if (existsSync(path)) chownSync(path, uid, gid);
}

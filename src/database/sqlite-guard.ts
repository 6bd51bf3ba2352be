import { chmodSync, realpathSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { type AppError, noDatabase } from '../errors.ts';
import type { DatabaseGuard } from './database-guard.ts';
import { makeSqliteFile } from './open-orm.ts';

/** Maximum wait for a server that is being replaced. */
const WAIT_MS = 3_000;
const LOOK_EVERY_MS = 500;

/**
 * Holds a lock beside the SQLite file that dies with its process, and checks twice a second that the file is still the
 * one that was opened: writes to a deleted or replaced file would be lost.
 */
export class SqliteGuard implements DatabaseGuard {
  readonly #path: string;
  readonly #lock: Sqlite.Database;
  readonly #opened: string;
  readonly #timer: NodeJS.Timeout;
  #refusal: AppError | null = null;

  /** Makes a missing file. Throws when another server has it. */
  constructor(path: string, tell: (message: string) => void) {
    makeSqliteFile(path);
    this.#path = realpathSync(path);
    this.#lock = lock(this.#path);
    this.#opened = identity(this.#path);
    this.#timer = setInterval(() => this.#look(tell), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  get refusal(): AppError | null {
    return this.#refusal;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#lock.close();
  }

  #look(tell: (message: string) => void): void {
    const before = this.#refusal;
    const same = identity(this.#path) === this.#opened;
    if (same) this.#refusal = null;
    else this.#refusal ??= noDatabase(new Error(`${this.#path} was removed or replaced under the running server`));
    if (this.#refusal === before) return;
    if (same) tell('The database file is back in its place.');
    else tell(`${this.#path} was removed or replaced: nothing is stored any more. Put it back, or restart the server.`);
  }
}

/** SQLite's own lock on a file of its own; the system releases it however the process ends. */
function lock(path: string): Sqlite.Database {
  const file = `${path}.lock`;
  const held = new Sqlite(file, { timeout: WAIT_MS });
  chmodSync(file, 0o600);
  try {
    held.pragma('journal_mode = MEMORY');
    held.exec('BEGIN EXCLUSIVE');
    return held;
  } catch (error) {
    held.close();
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    throw new Error(
      `another Inlet is running on ${path}. Stop it first; for several nodes use PostgreSQL and REDIS_URL`,
      { cause: error },
    );
  }
}

/** Device and inode of the file with this name. */
function identity(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    // Gone, in a closed folder, or on an unreadable disk: a timer's error has no other handler.
    return 'none';
  }
}

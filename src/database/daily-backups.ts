import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { programFile } from '../program-file.ts';
import { makeFolder } from './make-folder.ts';

const LOOK_EVERY_MS = 60_000;
const NAME = /^inlet-\d{4}-\d\d-\d\d\.db$/;
/** Files of an unfinished copy. */
const UNFINISHED = /^inlet-\d{4}-\d\d-\d\d\.db\.making(\.part)?$/;

interface DailyBackupsOptions {
  /** SQLite file that the server has open. */
  path: string;
  folder: string;
  /** Number of copies to keep; other files in the folder are left alone. */
  keep: number;
  now: () => number;
  /** Called when a copy was made, or failed. */
  tell: (file: string, failure: string | null) => void;
}

/**
 * Makes a copy for each day (UTC) on which the server runs, `inlet-YYYY-MM-DD.db`, with `inlet backup` in a process of
 * its own.
 */
export class DailyBackups {
  readonly #options: DailyBackupsOptions;
  readonly #timer: NodeJS.Timeout;
  #running: ChildProcess | null = null;

  constructor(options: DailyBackupsOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#timer.unref();
    this.#look();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#running?.kill('SIGKILL');
  }

  #look(): void {
    const { folder, now, tell } = this.#options;
    const file = join(folder, `inlet-${new Date(now()).toISOString().slice(0, 10)}.db`);
    try {
      makeFolder(folder);
      if (this.#running === null && !existsSync(file)) this.#backup(file);
    } catch (error) {
      tell(file, error instanceof Error ? error.message : String(error));
    }
  }

  #backup(file: string): void {
    const { folder, path, tell } = this.#options;
    // A stopped copy must not leave a file with the name of a whole one.
    const making = `${file}.making`;
    for (const name of readdirSync(folder)) if (UNFINISHED.test(name)) rmSync(join(folder, name), { force: true });
    const child = spawn(process.execPath, [programFile('cli/inlet'), 'backup', making], {
      env: { DATABASE_URL: `sqlite:${path}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#running = child;
    let said = '';
    // Out of file descriptors, the child has no stream and ends with an error.
    const stderr = child.stderr as Readable | undefined;
    stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, 1_000)));
    const ended = (failure: string | null): void => {
      this.#running = null;
      tell(file, failure ?? this.#keep(making, file));
    };
    child.once('error', (error) => ended(error.message));
    child.once('exit', (code) => ended(code === 0 ? null : said.trim() || `ended with ${code}`));
  }

  /** Gives the copy its name; returns what failed, or null. */
  #keep(making: string, file: string): string | null {
    try {
      renameSync(making, file);
      this.#removeOldest();
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #removeOldest(): void {
    const { folder, keep } = this.#options;
    const ours = readdirSync(folder).filter((name) => NAME.test(name));
    for (const name of ours.sort().slice(0, -keep)) rmSync(join(folder, name), { force: true });
  }
}

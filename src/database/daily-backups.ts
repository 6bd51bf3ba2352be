import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { programFile } from '../program-file.ts';
import { makeFolder } from './make-folder.ts';

const LOOK_EVERY_MS = 60_000;
const NAME = /^inlet-\d{4}-\d\d-\d\d\.db$/;
/** What is there of a copy until it is whole. */
const UNFINISHED = /^inlet-\d{4}-\d\d-\d\d\.db\.making(\.part)?$/;

interface DailyBackupsOptions {
  /** The SQLite file that the server has open. */
  path: string;
  folder: string;
  /** How many of our copies stay; other files in the folder are left alone. */
  keep: number;
  now: () => number;
  /** Told when a copy was made, or could not be. */
  tell: (file: string, failure: string | null) => void;
}

/**
 * One copy for each day (UTC) on which the server runs, `inlet-YYYY-MM-DD.db`, made by `inlet backup` in a process of its
 * own, so that nobody waits for it.
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
    // Whoever is stopped amid it leaves a name without a copy: that must be none of ours.
    const making = `${file}.making`;
    for (const name of readdirSync(folder)) if (UNFINISHED.test(name)) rmSync(join(folder, name), { force: true });
    const child = spawn(process.execPath, [programFile('cli/inlet'), 'backup', making], {
      env: { DATABASE_URL: `sqlite:${path}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#running = child;
    let said = '';
    // Where the machine has no file left for it, it has none, and ends with an error.
    const stderr = child.stderr as Readable | undefined;
    stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, 1_000)));
    const ended = (failure: string | null): void => {
      this.#running = null;
      tell(file, failure ?? this.#keep(making, file));
    };
    child.once('error', (error) => ended(error.message));
    child.once('exit', (code) => ended(code === 0 ? null : said.trim() || `ended with ${code}`));
  }

  /** What keeps it from that; null: nothing. */
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

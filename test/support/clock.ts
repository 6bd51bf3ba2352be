import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WIDTH = 20;
const PRELOAD = fileURLToPath(new URL('./stepped-clock.mjs', import.meta.url));

/** The clock of a server process, to be put forth and back while it runs: start the server with `env`. */
export class SteppedClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'inlet-clock-'));
  readonly env: Record<string, string>;
  readonly #file: number;
  #offset = 0;

  constructor(offsetMs = 0) {
    const file = join(this.#folder, 'offset');
    this.#file = openSync(file, 'w');
    this.env = { CLOCK_FILE: file, NODE_OPTIONS: `--import=${PRELOAD}` };
    this.step(offsetMs);
  }

  /** As the server has it from now on, in ms UTC. */
  get now(): number {
    return Date.now() + this.#offset;
  }

  /** From now on it is so many ms ahead of the true time. */
  step(offsetMs: number): void {
    this.#offset = offsetMs;
    // In place and always as long, so that a reader never sees half of it.
    writeSync(this.#file, String(offsetMs).padEnd(WIDTH), 0);
  }

  drop(): void {
    closeSync(this.#file);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRELOAD = fileURLToPath(new URL('./stepped-clock.mjs', import.meta.url));

/** The clock of a server process, to be put forth and back while it runs: start the server with `env`. */
export class SteppedClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'inlet-clock-'));
  readonly env: Record<string, string>;
  #offset = 0;

  constructor(offsetMs = 0) {
    const file = join(this.#folder, 'offset');
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
    const file = this.env['CLOCK_FILE']!;
    writeFileSync(`${file}.new`, String(offsetMs));
    renameSync(`${file}.new`, file);
  }

  drop(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

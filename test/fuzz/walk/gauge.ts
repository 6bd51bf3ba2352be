import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';

/** What a server did between `begin` and `end`. */
export interface Measured {
  /** The longest piece for which its event loop heard nobody else, in ms of its processor time. */
  pieceMs: number;
  /** By how much its resident memory was larger at most, in MB. */
  grownMb: number;
}

/** Measures a server from inside, one piece of work after the other. On Linux. */
export class Gauge {
  readonly #port: number;
  #pid = 0;
  #residentMb = 0;

  private constructor(port: number) {
    this.#port = port;
  }

  static async create(): Promise<Gauge> {
    return new Gauge(await freePort());
  }

  /** What a server must be started with. */
  get env(): Record<string, string> {
    const helper = fileURLToPath(new URL('./gauge.cjs', import.meta.url));
    return { GAUGE_PORT: String(this.#port), NODE_OPTIONS: `--require=${helper}` };
  }

  /** `collected`: what is garbage by now does not count as resident. */
  async begin(pid: number, collected = false): Promise<void> {
    this.#pid = pid;
    await this.#ask(collected ? '/collect' : '/');
    await this.#ask('/');
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    this.#residentMb = this.#memory('VmRSS');
  }

  async end(): Promise<Measured> {
    const pieceMs = Math.round(Number(await this.#ask('/')));
    return { pieceMs, grownMb: Math.round(this.#memory('VmHWM') - this.#residentMb) };
  }

  async #ask(path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#port}${path}`)).text();
  }

  #memory(name: 'VmRSS' | 'VmHWM'): number {
    const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024;
  }
}

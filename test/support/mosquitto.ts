import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { freePort } from './free-port.ts';
import { findMosquitto } from './has-mosquitto.ts';

/** A suite that needs a mosquitto. */
export const describeWithMosquitto = findMosquitto() === null ? describe.skip : describe;

/** A real broker on this machine, which takes anybody and keeps sessions on disk. */
export class Mosquitto {
  readonly url: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | null = null;

  private constructor(port: number, folder: string) {
    this.url = `mqtt://127.0.0.1:${port}`;
    this.#port = port;
    this.#folder = folder;
  }

  /** `settings`: more lines of its configuration. */
  static async start(...settings: string[]): Promise<Mosquitto> {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-mosquitto-'));
    const port = await freePort();
    // As root it would become another user, who may not write there.
    const lines = [
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      'persistence true',
      `persistence_location ${folder}/`,
      'max_queued_messages 0',
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      ...settings,
    ];
    writeFileSync(join(folder, 'mosquitto.conf'), `${lines.join('\n')}\n`);
    const broker = new Mosquitto(port, folder);
    await broker.begin();
    return broker;
  }

  /** Starts it, again, on the same port. */
  async begin(): Promise<void> {
    const child = spawn(findMosquitto()!, ['-c', join(this.#folder, 'mosquitto.conf')], { stdio: 'ignore' });
    this.#process = child;
    while (!(await listens(this.#port))) {
      if (child.exitCode !== null) throw new Error('mosquitto did not start.');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Ends it; it writes down what it keeps. */
  async end(): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null) return;
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTo(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

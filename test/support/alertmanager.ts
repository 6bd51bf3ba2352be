import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { ALERTMANAGER, hasAlertmanager } from './has-alertmanager.ts';
import { freePort } from './free-port.ts';

/** A suite that needs an Alertmanager. */
export const describeWithAlertmanager = hasAlertmanager() ? describe : describe.skip;

/** An alert as its v2 API shows it. */
interface ShownAlert {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  startsAt: string;
  endsAt: string;
  updatedAt: string;
  status: { state: string };
}

/** A real Alertmanager on this machine. */
export class Alertmanager {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  static async start(): Promise<Alertmanager> {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-alertmanager-'));
    const config = join(folder, 'config.yml');
    writeFileSync(config, 'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n');
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      ALERTMANAGER,
      [
        `--config.file=${config}`,
        `--storage.path=${folder}`,
        `--web.listen-address=${address}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    );
    const started = new Alertmanager(`http://${address}/`, child, folder);
    while (!(await started.#isReady())) await new Promise((resolve) => setTimeout(resolve, 20));
    return started;
  }

  /** The alerts that fire. */
  async alerts(): Promise<ShownAlert[]> {
    return (await fetch(`${this.url}api/v2/alerts`)).json() as Promise<ShownAlert[]>;
  }

  stop(): void {
    this.#process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }));
    this.#process.kill();
  }

  async #isReady(): Promise<boolean> {
    if (this.#process.exitCode !== null) throw new Error('Alertmanager did not start.');
    return fetch(`${this.url}-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The ceiling, or whom we compare with, in a process of its own: a file beside this one that prints its port. */
export function startBareKoa(name = 'bare-koa.ts', args: string[] = []): Promise<{ port: number; stop: () => void }> {
  const file = fileURLToPath(new URL(`./${name}`, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file, ...args], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      resolve({ port: (JSON.parse(line) as { port: number }).port, stop: () => void child.kill() });
    });
  });
}

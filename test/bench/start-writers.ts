import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LoadResult } from './generator.ts';
import type { WritersOrder } from './writers.ts';

/** Writers that run: one order after the other. */
export interface Writers {
  write(order: WritersOrder): Promise<LoadResult>;
  stop(): void;
}

/** Starts writers in a process of their own. */
export function startWriters(): Writers {
  const file = fileURLToPath(new URL('./writers.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    write: (order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      return new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line) as LoadResult)));
    },
    stop: () => void child.kill(),
  };
}

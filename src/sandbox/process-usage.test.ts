import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { processorUse, wantsProcessor } from './process-usage.ts';

test('a process whose main thread sleeps wants a processor as long as one of its threads does', async () => {
  const busy =
    "const { Worker } = require('node:worker_threads'); new Worker('for (;;);', { eval: true }); setInterval(() => {}, 60_000)";
  for (const [script, expected] of [
    [busy, true],
    ['setInterval(() => {}, 60_000)', false],
  ] as const) {
    const child = spawn(process.execPath, ['-e', script]);
    try {
      await expect.poll(() => processorUse(child.pid).sleeping && wantsProcessor(child.pid) === expected).toBe(true);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect([processorUse(child.pid).sleeping, wantsProcessor(child.pid)]).toEqual([true, expected]);
    } finally {
      child.kill('SIGKILL');
    }
  }
});

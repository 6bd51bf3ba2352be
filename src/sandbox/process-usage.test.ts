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
      // Once it has started; now and then its main thread is awake for a moment.
      let looks = 0;
      for (let at = 0; at < 20; at += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (processorUse(child.pid).sleeping && wantsProcessor(child.pid) === expected) looks += 1;
      }
      expect(looks).toBeGreaterThan(10);
    } finally {
      child.kill('SIGKILL');
    }
  }
});

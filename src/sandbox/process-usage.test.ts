import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { processorUse, wantsProcessor } from './process-usage.ts';

test('a process whose main thread sleeps wants a processor as long as one of its threads does', async () => {
  const sleeps = "setInterval(() => {}, 60_000); const begun = () => console.log('begun');";
  for (const [script, expected] of [
    [`new (require('node:worker_threads').Worker)('for (;;);', { eval: true }).on('online', begun)`, true],
    ['begun()', false],
  ] as const) {
    const child = spawn(process.execPath, ['-e', `${sleeps} ${script}`]);
    try {
      await once(child.stdout, 'data');
      await expect.poll(() => processorUse(child.pid).sleeping && wantsProcessor(child.pid) === expected).toBe(true);
      // Now and then its main thread is awake for a moment.
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

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'vitest';
import { ServerWatch } from './server-watch.ts';

/** Answers everybody, and computes for so many ms of processor time when it is asked for `/compute/<ms>`; `/never` has no answer. */
const SERVER = `
  const server = require('node:http').createServer((request, response) => {
    const [, what, ms] = request.url.split('/');
    if (what === 'never') return;
    response.end('ok');
    const used = () => process.cpuUsage().user + process.cpuUsage().system;
    const until = used() + Number(ms ?? 0) * 1000;
    while (what === 'compute' && used() < until);
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const FREEZE_MS = 1_500;

/** A server of the test's own, what watches it, and what that has found. */
async function watched(atEnd: TestContext['onTestFinished']) {
  const found: string[] = [];
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => void child.kill('SIGKILL'));
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}`;
  return {
    child,
    url,
    found,
    watch: new ServerWatch({ child, lines: [], url }, (what) => found.push(what), FREEZE_MS),
  };
}

// They mostly wait: side by side.
test.concurrent('a server that computes for too long is frozen, and what was on the way is told', async ({
  expect,
  onTestFinished,
}) => {
  const { found, url, watch } = await watched(onTestFinished);
  await watch.asking('the culprit', () => fetch(`${url}/compute/2500`).then(() => new Promise((resolve) => setTimeout(resolve, 300)))); // oxfmt-ignore
  await expect.poll(() => found).toEqual([expect.stringMatching(/^frozen/)]);
  await watch.end();
});

test.concurrent('one that is stopped by somebody else for longer is not, nor is it slow', async ({
  expect,
  onTestFinished,
}) => {
  const { child, found, watch } = await watched(onTestFinished);
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  child.kill('SIGCONT');
  await watch.end();
  expect(found).toEqual([]);
  expect(watch.stalls[0]!.ms).toBeLessThan(1_000);
});

test.concurrent('a server that ends is told', async ({ expect, onTestFinished }) => {
  const { child, found } = await watched(onTestFinished);
  child.kill('SIGKILL');
  await expect.poll(() => found).toEqual([expect.stringMatching(/^the server is gone/)]);
});

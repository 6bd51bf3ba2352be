import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

let child: ChildProcess;
let url: string;
let found: string[];
let watch: ServerWatch;
beforeEach(async () => {
  found = [];
  const told = found;
  child = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout!, 'data')) as [Buffer];
  url = `http://127.0.0.1:${String(port).trim()}`;
  watch = new ServerWatch({ child, lines: [], url }, (what) => told.push(what));
});
afterEach(() => {
  child.kill('SIGKILL');
});

test('a server that computes for longer than 5 s is frozen, and what was on the way is told', async () => {
  await watch.asking('the culprit', () => fetch(`${url}/compute/7000`).then(() => new Promise((resolve) => setTimeout(resolve, 300)))); // prettier-ignore
  await expect.poll(() => found, { timeout: 60_000 }).toEqual([expect.stringMatching(/^frozen/)]);
  await watch.end();
}, 90_000);

test('one that is stopped by somebody else for longer is not, nor is it slow', async () => {
  child.kill('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 7_000));
  child.kill('SIGCONT');
  await watch.end();
  expect(found).toEqual([]);
  expect(watch.stalls[0]!.ms).toBeLessThan(1_000);
}, 30_000);

test('a server that ends is told', async () => {
  child.kill('SIGKILL');
  await expect.poll(() => found, { timeout: 10_000 }).toEqual([expect.stringMatching(/^the server is gone/)]);
}, 15_000);

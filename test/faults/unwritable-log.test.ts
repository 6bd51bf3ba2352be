import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, readSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { openLogOutput } from '../../src/log.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { SmallFileSystem } from '../support/small-file-system.ts';

/** Reads nothing until it is told to, then all until nothing comes for five seconds: how many lines, and how many in order. */
const READER = `process.on('SIGUSR2', () => {
  let [rest, lines, inOrder, timer] = ['', 0, 0];
  const tell = () => console.log(lines, inOrder);
  process.stdin.on('data', (data) => {
    const all = (rest + data).split('\\n');
    rest = all.pop();
    for (const line of all) { if (Number(line.split(' ')[0]) === lines) inOrder += 1; lines += 1; }
    clearTimeout(timer);
    timer = setTimeout(tell, 5000);
  });
});
console.log('ready');
setInterval(() => {}, 1000)`;

// Most of these wait for a child process: side by side.
test.concurrent('a log on a full disk holds up nobody: the server answers, hears the signal, and ends', async ({
  expect,
}) => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-log-'));
  const env = { DATABASE_URL: `sqlite:${join(folder, 'inlet.db')}` };
  // The first start tells a token, and is not this.
  await (await ServerProcess.start(env)).stop();
  const [full, port] = [openSync('/dev/full', 'w'), await freePort()];
  const child = spawn(process.execPath, ['dist/src/main.js'], {
    env: {
      ...env,
      PATH: process.env['PATH'],
      ADMIN_TOKEN,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      SHUTDOWN_GRACE_MS: '0',
    },
    stdio: ['ignore', full, 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  try {
    const url = `http://127.0.0.1:${port}/healthz`;
    const status = (): Promise<number> =>
      fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
        (response) => response.status,
        () => 0,
      );
    await expect.poll(status).toBe(200);
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 100_000);
    expect(await ended).toBe(0);
    clearTimeout(late);
  } finally {
    child.kill('SIGKILL');
    closeSync(full);
    rmSync(folder, { recursive: true, force: true });
  }
});

test('lines that a full disk did not take are written with the next one that it takes; at the end nobody waits for it', async () => {
  const small = SmallFileSystem.mount(1);
  if (small === null) return;
  const path = join(small.folder, 'inlet.log');
  const written = (): string => readFileSync(path, 'utf8');
  const output = openLogOutput(openSync(path, 'a'));
  // To the end of a block: the next one needs another.
  const first = `${'x'.repeat(4_095)}\n`;
  output.write(first);
  await expect.poll(written).toBe(first);
  small.fill();
  output.write('kept\n');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(written()).toBe(first);
  small.free();
  output.write('second\n');
  await expect.poll(written).toBe(`${first}kept\nsecond\n`);
  small.fill();
  const last = openLogOutput(openSync(join(small.folder, 'last.log'), 'a'));
  last.write('lost\n');
  last.flushSync();
  small.unmount();
});

test('a disk that was full until no more lines could wait has them again when it is free', async () => {
  const small = SmallFileSystem.mount(1);
  if (small === null) return;
  const path = join(small.folder, 'inlet.log');
  const output = openLogOutput(openSync(path, 'a'));
  small.fill();
  const line = `${'x'.repeat(65_535)}\n`;
  // One is tried; the others are all that may wait.
  for (let at = 0; at < 1_025; at += 1) output.write(line);
  await new Promise((resolve) => setTimeout(resolve, 100));
  small.free();
  output.write('lost\n');
  await expect.poll(() => statSync(path).size).toBeGreaterThan(500_000);
  small.unmount();
});

test.concurrent('of lines for a socket whose reader is gone none are kept', async ({ expect }) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[reader]] = await Promise.all([accepted, once(socket, 'connect')]);
  reader.on('error', () => {}).pause();
  const program = `import { createLog } from ${JSON.stringify(new URL('../../src/log.ts', import.meta.url).href)};
    const log = createLog('info');
    for (let at = 0; at < 70 * 1024; at += 1) log.info({ text: 'z'.repeat(1000) }, 'line');
    setInterval(() => (gc(), console.error(process.memoryUsage().heapUsed >> 20)), 100);`;
  const words = ['--expose-gc', '--input-type=module', '-e', program];
  const child = spawn(process.execPath, words, { stdio: ['ignore', socket, 'pipe'] });
  let heldMb = 0;
  child.stderr!.on('data', (data: Buffer) => (heldMb = Number(data.toString().trim().split('\n').at(-1))));
  try {
    await expect.poll(() => heldMb).toBeGreaterThan(50);
    reader.resetAndDestroy();
    await expect.poll(() => heldMb).toBeLessThan(30);
  } finally {
    child.kill('SIGKILL');
    socket.destroy();
    server.close();
  }
});

test('of lines that nobody reads so many wait, and all that do are read in their order', async () => {
  const reader = spawn(process.execPath, ['-e', READER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { fd } = Reflect.get(reader.stdin, '_handle') as { fd: number };
  const output = openLogOutput(fd);
  const line = `${'y'.repeat(1_023)}\n`;
  const count = 70 * 1_024;
  for (let at = 0; at < count; at += 1) output.write(`${at} ${line}`);
  const said = async (): Promise<string> => String((await once(reader.stdout, 'data'))[0]).trim();
  expect(await said()).toBe('ready');
  reader.kill('SIGUSR2');
  const told = await said();
  const [lines, inOrder] = told.split(' ').map(Number);
  expect(inOrder).toBe(lines);
  expect(lines).toBeGreaterThan(60 * 1_024);
  expect(lines).toBeLessThan(count);
  reader.kill();
});

/** A process that logs to a pipe, a named one that blocks, and then ends as told: how, after how many ms, and what is in the pipe. */
async function logsAndEnds(lines: number, end: string): Promise<{ how: unknown; inPipe: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-log-'));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, 'r+');
  const program = `import { createLog } from ${JSON.stringify(new URL('../../src/log.ts', import.meta.url).href)};
    const log = createLog('info');
    setTimeout(() => {
      console.error('begun');
      for (let at = 0; at < ${lines}; at += 1) log.info({ at, text: 'z'.repeat(100) }, 'line');
      ${end};
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', pipe, 'pipe'] });
  try {
    const late = setTimeout(() => child.kill('SIGKILL'), 60_000);
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    clearTimeout(late);
    const nonBlocking = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(65_536);
    const inPipe = buffer.toString('utf8', 0, readSync(nonBlocking, buffer));
    closeSync(nonBlocking);
    return { how: code ?? signal, inPipe };
  } finally {
    closeSync(pipe);
    rmSync(folder, { recursive: true, force: true });
  }
}

test.concurrent('a pipe that is full and that nobody reads holds up no exit', async ({ expect }) => {
  const { how } = await logsAndEnds(2_000, 'process.exit(0)');
  // One that is held up is killed.
  expect(how).toBe(0);
});

test.concurrent('what was logged to a pipe before the process was killed is in it', async ({ expect }) => {
  const { how, inPipe } = await logsAndEnds(50, "process.kill(process.pid, 'SIGKILL')");
  expect(how).toBe('SIGKILL');
  expect(inPipe.split('\n').filter((line) => line.includes('"msg":"line"'))).toHaveLength(50);
});

test.concurrent('the line that says why a process ends is in the file', async ({ expect }) => {
  const program = `import { createLog, endOnUncaught } from ${JSON.stringify(new URL('../../src/log.ts', import.meta.url).href)};
    const log = createLog('info');
    endOnUncaught(log);
    log.info('line');
    throw new Error('a mistake');`;
  const folder = mkdtempSync(join(tmpdir(), 'inlet-log-'));
  const path = join(folder, 'inlet.log');
  const words = ['--input-type=module', '-e', program];
  const child = spawn(process.execPath, words, { stdio: ['ignore', openSync(path, 'a'), 'inherit'] });
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  expect({ code, signal }).toEqual({ code: 1, signal: null });
  expect(readFileSync(path, 'utf8')).toContain('"level":"fatal"');
  rmSync(folder, { recursive: true });
});

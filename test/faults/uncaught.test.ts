import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProduct, startServer } from '../support/server.ts';

/** Preloaded into the server: at a signal it does what no guard catches. */
const preload = (fault: string): string => `--import=data:text/javascript,process.on('SIGUSR2',()=>{${fault}})`;

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

/** null: there is no such process any more. */
function parentOf(pid: number | string): number | null {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return null;
  }
}

test.each([
  ['an exception', "throw(new(RangeError)('slipped-through'))"],
  ['a rejection that nobody waits for', "void(Promise.reject(new(RangeError)('slipped-through')))"],
])('%s that no guard caught ends the server and its decoders, after a line that says why', async (_name, fault) => {
  const server = await startServer({
    alone: true,
    database: 'sqlite',
    env: { NODE_OPTIONS: preload(fault), LOG_LEVEL: 'debug' },
  });
  await createProduct(server, { input: { decoder: 'function Decoder() { return [] }' } });
  const { child, lines } = server.process;
  await expect.poll(() => childrenOf(child.pid!).length).toBeGreaterThan(0);
  const decoders = childrenOf(child.pid!);
  const written = new Promise((resolve) => child.stdout!.once('end', resolve));
  expect(await server.process.stop('SIGUSR2')).toBe(1);
  await written;
  expect(lines.filter(({ level }) => level === 'fatal')).toEqual([
    expect.objectContaining({
      id: expect.stringMatching(/^[\da-f]{12}$/),
      time: expect.stringMatching(/^\d{4}-/),
      msg: 'uncaught error: the server ends',
      err: expect.objectContaining({
        type: 'RangeError',
        message: 'slipped-through',
        stack: expect.stringContaining('SIGUSR2'),
      }),
    }),
  ]);
  await expect.poll(() => decoders.filter((pid) => parentOf(pid) !== null)).toEqual([]);
  await server.stop();
});

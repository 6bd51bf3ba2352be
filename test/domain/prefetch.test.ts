import { afterEach, expect, test, vi } from 'vitest';
import { PrefetchCredits, Prefetch } from '../../src/scheduling/prefetch.ts';

const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
const tooSlow: string[] = [];

afterEach(() => {
  vi.useRealTimers();
  tooSlow.length = 0;
});

/** Reads two items at a time, and writes down what was read. */
function newReaders() {
  const credits = new PrefetchCredits();
  const read: string[] = [];
  const open = (token: string, at: number, tenant = 'tenant') => {
    const name = `${token} ${at}`;
    const caller = { tokenId: token, tenant };
    const ahead = new Prefetch<number>({ credits, caller, onSlow: () => tooSlow.push(name) });
    const filled = ahead.fill(async () => {
      read.push(name);
      return [1, 2];
    });
    return { ahead, filled };
  };
  return { read, open };
}

test('a tenant has so many pages in memory: the next one is read when one of them was sent, those of others at once', async () => {
  const { read, open } = newReaders();
  const many = Array.from({ length: 30 }, (_, at) => open(`token ${at % 2}`, at).ahead);
  await settled();
  expect(read).toHaveLength(24);
  await open('single', 0, 'other').filled;
  expect(read.at(-1)).toBe('single 0');
  const [first, second] = [many[0]!, many[1]!];
  expect(first.take(1)).toEqual([1]);
  first.release();
  await settled();
  // It is not sent to its end.
  expect(read).toHaveLength(25);
  expect(first.take(50)).toEqual([2]);
  await settled();
  expect(read).toHaveLength(25);
  first.release();
  second.end();
  await settled();
  expect(read.slice(25)).toEqual(['token 0 24', 'token 1 25']);
  for (const one of many) one.end();
  await open('token 0', 99).filled;
  expect(read).toHaveLength(28);
});

test('no token has all places of its tenant, and who has fewest comes first', async () => {
  const { read, open } = newReaders();
  const many = Array.from({ length: 100 }, (_, at) => open('many', at).ahead);
  await settled();
  expect(read).toHaveLength(20);
  for (let at = 0; at < 5; at += 1) open('few', at);
  await settled();
  expect(read.slice(20)).toEqual(['few 0', 'few 1', 'few 2', 'few 3']);
  many[0]!.end();
  await settled();
  expect(read.slice(24)).toEqual(['few 4']);
});

test('who has gone while it waited waits no longer, and takes no place', async () => {
  const { read, open } = newReaders();
  const many = Array.from({ length: 20 }, (_, at) => open('token', at).ahead);
  const gone = Array.from({ length: 50 }, (_, at) => open('token', 100 + at));
  const last = open('token', 999);
  for (const { ahead } of gone) ahead.end();
  await Promise.all(gone.map(({ filled }) => filled));
  expect(read).toHaveLength(20);
  many[3]!.end();
  await last.filled;
  expect(read.slice(20)).toEqual(['token 999']);
});

test('who takes long while another waits for a place gives way; where nobody waits nobody does', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { read, open } = newReaders();
  for (let at = 0; at < 20; at += 1) open('slow', at);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tooSlow).toEqual([]);
  const next = open('slow', 20);
  await vi.advanceTimersByTimeAsync(100);
  await next.filled;
  expect(tooSlow).toEqual(['slow 0']);
  open('slow', 21);
  await vi.advanceTimersByTimeAsync(100);
  expect(tooSlow).toEqual(['slow 0', 'slow 1']);
  expect(read).toHaveLength(22);
  // Those that came later are not slow yet.
  for (let at = 22; at < 42; at += 1) open('slow', at);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(tooSlow).toHaveLength(20);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(tooSlow).toHaveLength(22);
});

test('nobody gives way whose place would be nobody’s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { open } = newReaders();
  open('few', 0);
  for (let at = 0; at < 21; at += 1) open('many', at);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tooSlow).toEqual(['many 0']);
});

test('a page that could not be read, or is empty, has no place, nor who ended meanwhile', async () => {
  const credits = new PrefetchCredits();
  const deps = { credits, caller: { tokenId: 'token', tenant: 'tenant' }, onSlow: () => {} };
  const ahead = new Prefetch<number>(deps);
  for (let time = 0; time < 30; time += 1) {
    await expect(ahead.fill(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await ahead.fill(async () => []);
    expect(ahead.isEmpty).toBe(true);
    const ending = new Prefetch<number>(deps);
    await ending.fill(async () => {
      ending.end();
      return [1];
    });
    expect(ending.isEmpty).toBe(true);
    const ended = new Prefetch<number>(deps);
    ended.end();
    await ended.fill(async () => [1]);
    expect(ended.isEmpty).toBe(true);
  }
  await ahead.fill(async () => [1]);
  expect(ahead.take(50)).toEqual([1]);
});

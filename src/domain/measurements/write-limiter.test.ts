import { expect, test } from 'vitest';
import { LocalWriteLimiter } from './write-limiter.ts';

const MINUTE = 60_000;

test('a limit of minutes holds although what has expired is swept out in between', () => {
  let clock = 0;
  const limiter = new LocalWriteLimiter(() => clock);
  expect(limiter.reserve(1, [7], MINUTE)).toEqual([true]);
  clock = MINUTE - 1;
  // Sweeps: half a minute is over.
  expect(limiter.reserve(2, [7], 1_000)).toEqual([true]);
  expect(limiter.reserve(1, [7], MINUTE)).toEqual([false]);
  clock = MINUTE;
  expect(limiter.reserve(1, [7], MINUTE)).toEqual([true]);
});

test('what is given back can be taken again, and nothing else', () => {
  const limiter = new LocalWriteLimiter(() => 0);
  expect(limiter.reserve(1, [7, 8], MINUTE)).toEqual([true, true]);
  expect(limiter.reserve(1, [7], MINUTE)).toEqual([false]);
  limiter.giveBack(1, [7]);
  limiter.giveBack(2, [8]);
  expect(limiter.reserve(1, [7, 8], MINUTE)).toEqual([true, false]);
});

test('what has expired is swept out some at a time', () => {
  let clock = 0;
  const limiter = new LocalWriteLimiter(() => clock);
  for (let key = 0; key < 5_000; key += 1) limiter.reserve(key, [7], key === 50 ? 10 * MINUTE : 1_000);
  clock = MINUTE;
  limiter.reserve(0, [7], 1_000);
  expect(limiter.size).toBeGreaterThan(4_000);
  for (let times = 0; times < 100; times += 1) limiter.reserve(0, [7], 1_000);
  expect(limiter.size).toBe(2);
  expect(limiter.reserve(50, [7], 10 * MINUTE)).toEqual([false]);
});

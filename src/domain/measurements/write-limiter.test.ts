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
  expect(limiter.reserve(1, [7, 8, 7], MINUTE)).toEqual([true, true, false]);
  limiter.giveBack(1, [7]);
  limiter.giveBack(2, [8]);
  expect(limiter.reserve(1, [7, 8], MINUTE)).toEqual([true, false]);
});

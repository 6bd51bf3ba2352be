import { expect, test } from 'vitest';
import { SharedTime } from '../../src/scheduling/shared-time.ts';

test('what runs alone, or beside one other, took what the clock says', () => {
  let now = 1_000;
  const time = new SharedTime(() => now);
  const one = time.begin();
  now += 30;
  const other = time.begin();
  now += 20;
  expect(one()).toBe(50);
  now += 5;
  expect(other()).toBe(25);
  expect(time.running).toBe(0);
});

test('what stands still for all, as a database that does not answer, is counted for a second', () => {
  let now = 0;
  const time = new SharedTime(() => now);
  now += 60_000;
  const works = [time.begin(), time.begin()];
  now += 20_000;
  const late = time.begin();
  now += 20_000;
  expect(works.map((end) => end())).toEqual([1_000, 1_000]);
  // They have ended: it goes on.
  now += 300;
  expect(late()).toBe(300);
});

test('of a crowd each took its part of the time, whenever it came and went', () => {
  let now = 0;
  const time = new SharedTime(() => now);
  const crowd = Array.from({ length: 8 }, () => time.begin());
  now += 400;
  // Eight share two processors' time.
  expect(crowd.pop()!()).toBe(100);
  const late = time.begin();
  now += 40;
  expect(late()).toBe(10);
  for (const end of crowd) expect(end()).toBe(110);
  const alone = time.begin();
  now += 7;
  expect(alone()).toBe(7);
});

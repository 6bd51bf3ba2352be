import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import { WorkShares } from '../../src/domain/work-shares.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('who has used more than its burst beside others waits as long as that takes, and no longer', async () => {
  const shares = new WorkShares();
  shares.noteOthers();
  // 4 ms over the 50 that are free, of which a fifth is forgotten meanwhile.
  shares.spend('charts', 54);
  let began = 0;
  const running = shares.run('charts', async () => void (began = performance.now()));
  const from = performance.now();
  await vi.advanceTimersByTimeAsync(100);
  await running;
  expect(began - from).toBeGreaterThanOrEqual(20);
  expect(began - from).toBeLessThan(25);
});

test('alone nobody waits', async () => {
  const shares = new WorkShares();
  shares.spend('charts', 1_000);
  let began = false;
  await shares.run('charts', async () => void (began = true));
  expect(began).toBe(true);
});

test('reading side by side is counted once, reading one after the other is not', async () => {
  const budget = new PointBudget();
  const read = (ms: number): Promise<void> =>
    budget.within(
      1,
      () => pause(ms),
      () => 1,
    );
  const both = Promise.all([read(30), read(20)]);
  await vi.advanceTimersByTimeAsync(30);
  await both;
  expect(budget.readMs).toBe(30);
  await vi.advanceTimersByTimeAsync(50);
  const third = read(10);
  await vi.advanceTimersByTimeAsync(10);
  await third;
  expect(budget.readMs).toBe(40);
});

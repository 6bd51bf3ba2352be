import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Sweeper } from './sweeper.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a sweep that fails is tried again in ten seconds, and not once it has stopped', async () => {
  let fails = true;
  const [sweeps, errors]: number[][] = [[], []];
  const began = Date.now();
  const sweep = async (): Promise<void> => {
    sweeps!.push(Date.now() - began);
    if (fails) throw new Error('away');
  };
  const sweeper = new Sweeper({ everyMs: 600_000, sweep, onError: () => errors!.push(Date.now() - began) });
  await vi.advanceTimersByTimeAsync(15_000);
  fails = false;
  await vi.advanceTimersByTimeAsync(585_000);
  expect(sweeps).toEqual([0, 10_000, 20_000, 600_000]);
  expect(errors).toEqual([0, 10_000]);
  fails = true;
  await sweeper.sweep();
  await sweeper.stop();
  await vi.advanceTimersByTimeAsync(1_200_000);
  expect(sweeps).toHaveLength(5);
});

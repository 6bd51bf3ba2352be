import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Compactor } from '../../src/measurement-store/compactor.ts';

const LONG_MS = 3_600_000;
const SLICE_MS = 20;

/** Milliseconds that it takes for one device with so many slices, of which a turn has two, while somebody records or nobody does. */
async function slicesTake(slices: number, everyMs: number, isRecording: boolean): Promise<number> {
  let left = slices;
  let flushes = 0;
  const compactor = new Compactor({
    due: () => Promise.resolve(left > 0 ? [1] : []),
    compact: async (_deviceKey, edit, { piece }) => {
      for (let of = 0; of < 2 && left > 0; of += 1) {
        left -= 1;
        await piece(() => pause(SLICE_MS));
      }
      return left > 0 ? edit : null;
    },
    flushes: () => (isRecording ? (flushes += 1) : 0),
    keptMs: 0,
    everyMs,
    now: Date.now,
    log: undefined,
  });
  const from = performance.now();
  compactor.start();
  await expect.poll(() => left, { interval: 5 }).toBe(0);
  const took = performance.now() - from;
  await compactor.stop();
  return took;
}

test('beside those who record it rests after each slice for three times as long as that took, otherwise not', async () => {
  const [beside, alone] = [await slicesTake(10, LONG_MS, true), await slicesTake(10, LONG_MS, false)];
  expect(beside).toBeGreaterThan(9 * 4 * (SLICE_MS - 1));
  expect(alone).toBeLessThan(9 * 3 * SLICE_MS);
});

test('a round that takes longer than it should does not rest, nor does one behind such a one', async () => {
  const resting = 40 * 4 * SLICE_MS;
  expect(await slicesTake(40, 100, true)).toBeLessThan(resting / 2);
});

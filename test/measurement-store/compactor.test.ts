import { expect, test } from 'vitest';
import { Compactor } from '../../src/measurement-store/compactor.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('where looking for what is due takes long, it is done less often; compacting as such does not count', async () => {
  const looks = async (dueMs: number, compactMs: number): Promise<number> => {
    let count = 0;
    const compactor = new Compactor({
      due: async () => {
        count += 1;
        await pause(dueMs);
        return [1];
      },
      compact: () => pause(compactMs).then(() => true),
      keptMs: 0,
      everyMs: 5,
      now: Date.now,
      log: undefined,
    });
    await pause(600);
    await compactor.stop();
    return count;
  };
  const [slow, busy] = await Promise.all([looks(50, 0), looks(0, 50)]);
  // 50 ms of looking, 450 of rest: a third look is not yet over.
  expect(slow).toBeLessThanOrEqual(2);
  expect(busy).toBeGreaterThan(slow);
});

/** Rounds of a compactor that finds these devices, of which some fail: the devices in the order in which they were tried, 0 at the begin of each. */
async function rounds(devices: number[], failing: (deviceKey: number) => boolean): Promise<number[]> {
  const tried: number[] = [];
  const compactor = new Compactor({
    due: ({ after }) => {
      tried.push(0);
      return Promise.resolve(devices.filter((deviceKey) => deviceKey > after));
    },
    compact: (deviceKey) => {
      tried.push(deviceKey);
      return failing(deviceKey) ? Promise.reject(new Error('no')) : Promise.resolve(true);
    },
    keptMs: 0,
    everyMs: 5,
    now: Date.now,
    log: undefined,
  });
  while (tried.length < 3 * devices.length) await pause(5);
  await compactor.stop();
  return tried;
}

test('a device that cannot be compacted holds up no other', async () => {
  const tried = await rounds([1, 2, 3, 4], (deviceKey) => deviceKey === 2);
  expect(tried.slice(0, 10)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
});

test('nor do many: when so many fail in a row the round ends, and the next begins behind them', async () => {
  const devices = [1, 2, 3, 4, 5, 6, 7, 8];
  const tried = await rounds(devices, (deviceKey) => deviceKey > 1 && deviceKey < 8);
  expect(tried.slice(0, 17)).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 7, 8, 0, 1, 2, 3, 4, 5, 6]);
});

test('those that fail here and there do not end a round', async () => {
  const devices = Array.from({ length: 14 }, (_, i) => i + 1);
  const tried = await rounds(devices, (deviceKey) => deviceKey % 2 === 0);
  expect(tried.slice(0, 16)).toEqual([0, ...devices, 0]);
});

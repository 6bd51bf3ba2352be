import { afterEach, expect, test, vi } from 'vitest';
import { compaction } from '../../src/measurement-store/chunks/edit.ts';
import { Compactor } from '../../src/measurement-store/compactor.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** A clock that is turned by hand: what takes how long is exact, on any machine. */
const CLOCK = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] as const;
const turnClock = (): void => void vi.useFakeTimers({ toFake: [...CLOCK] });
afterEach(() => void vi.useRealTimers());

test('where looking for what is due takes long, it is done less often; compacting as such does not count', async () => {
  turnClock();
  const looks = async (dueMs: number, compactMs: number): Promise<number> => {
    let count = 0;
    const compactor = new Compactor({
      due: async () => {
        count += 1;
        await pause(dueMs);
        return [1];
      },
      compact: () => pause(compactMs).then(() => null),
      flushes: () => 0,
      keptMs: 0,
      everyMs: 5,
      now: Date.now,
      log: undefined,
    });
    await vi.advanceTimersByTimeAsync(600);
    const stopped = compactor.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    await stopped;
    return count;
  };
  const [slow, busy] = [await looks(50, 0), await looks(0, 50)];
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
      return failing(deviceKey) ? Promise.reject(new Error('no')) : Promise.resolve(null);
    },
    flushes: () => 0,
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

/** Which devices have a turn, 0 where it is looked for them, if they need so many turns each. */
function turns(needed: Map<number, number>, everyMs: number, failing: number[] = []) {
  const tried: number[] = [];
  const compactor = new Compactor({
    due: ({ after, limit }) => {
      tried.push(0);
      return Promise.resolve([...needed.keys()].filter((key) => key > after).slice(0, limit));
    },
    compact: async (deviceKey, edit) => {
      tried.push(deviceKey);
      await pause(0);
      if (failing.includes(deviceKey) && edit.kind === 'compact' && edit.readingsFrom > 0) throw new Error('no');
      const left = needed.get(deviceKey)! - 1;
      if (left === 0) needed.delete(deviceKey);
      else needed.set(deviceKey, left);
      return left === 0 ? null : { ...compaction(0), readingsFrom: 7 };
    },
    flushes: () => 0,
    keptMs: 0,
    everyMs,
    now: Date.now,
    log: undefined,
  });
  return { compactor, tried };
}

const LONG_MS = 3_600_000;

test('a device that has more than a turn takes goes on behind the others, where it was, until nothing is left', async () => {
  const needed = new Map([[1, 5], [2, 1], [3, 3]]); // oxfmt-ignore
  const { compactor, tried } = turns(needed, LONG_MS);
  compactor.start();
  await expect.poll(() => needed.size).toBe(0);
  await compactor.stop();
  expect(tried).toEqual([0, 1, 2, 3, 1, 3, 1, 3, 1, 1]);
});

test('one that never ends does not keep others from being found, and is stopped in the middle', async () => {
  const needed = new Map([[1, Infinity]]);
  const { compactor, tried } = turns(needed, 20);
  await expect.poll(() => tried.length).toBeGreaterThan(10);
  needed.set(2, 3);
  await expect.poll(() => needed.has(2)).toBe(false);
  await compactor.stop();
  const { length } = tried;
  await pause(50);
  expect(tried).toHaveLength(length);
});

test('one that fails when it goes on holds up no other, and is tried again in the next round', async () => {
  const needed = new Map([[1, 3], [2, 2]]); // oxfmt-ignore
  const { compactor, tried } = turns(needed, LONG_MS, [1]);
  compactor.start();
  await expect.poll(() => needed.has(2)).toBe(false);
  await expect.poll(() => {
    compactor.start();
    return needed.has(1);
  }).toBe(false); // oxfmt-ignore
  await compactor.stop();
  expect(tried.slice(0, 10)).toEqual([0, 1, 2, 1, 2, 0, 1, 1, 0, 1]);
});

test('of very many with more than a turn takes, two hundred go on; the others have their next turn in the next round', async () => {
  const devices = Array.from({ length: 450 }, (_, i) => i + 1);
  const { compactor, tried } = turns(new Map(devices.map((key) => [key, 2])), LONG_MS);
  compactor.start();
  const first = [0, ...devices.slice(0, 200), 0, ...devices.slice(200, 400), 0, ...devices.slice(400), ...devices.slice(0, 200)]; // oxfmt-ignore
  await expect.poll(() => tried.length).toBe(first.length);
  await pause(20);
  expect(tried).toEqual(first);
  await compactor.stop();
});

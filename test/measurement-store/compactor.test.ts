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

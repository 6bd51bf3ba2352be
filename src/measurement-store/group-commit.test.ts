import { expect, test } from 'vitest';
import { GroupCommit } from './group-commit.ts';

const BOUNDS = { maxWaitingRows: 10_000, maxWaitingBytes: 1_000_000 };
const THOUSAND = 1_000;

/** A database whose flushes end when it is told so, the oldest first. */
function standingStill(): { target: ConstructorParameters<typeof GroupCommit>[0]; end: (error?: Error) => void } {
  const underWay: PromiseWithResolvers<void>[] = [];
  const flush = (): Promise<void> => {
    underWay.push(Promise.withResolvers<void>());
    return underWay.at(-1)!.promise;
  };
  const end = (error?: Error): void => {
    const { resolve, reject } = underWay.shift()!;
    if (error === undefined) resolve();
    else reject(error);
  };
  return { target: { gather: () => 100, flush }, end };
}

const receipt = (timestamp: number): Parameters<GroupCommit['append']>[0] => ({
  batches: [{ deviceKey: 1, receivedAt: 1, fieldKeys: [1], timestamps: [timestamp], values: [1] }],
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test.each([
  ['stored', undefined],
  ['refused', new Error('gone')],
])(
  'thousands that were %s together are told so in turns, in their order, and a stop waits for the last',
  async (_, error) => {
    const { target, end } = standingStill();
    const commits = new GroupCommit(target, BOUNDS);
    const told: number[] = [];
    const append = (at: number): void => {
      const tell = (): void => void told.push(at);
      void commits.append(receipt(at)).then(tell, tell);
    };
    for (let at = 0; at < THOUSAND; at += 1) append(at);
    await turn();
    append(THOUSAND);
    end(error);
    let [isSettled, isStopped] = [false, false];
    void commits.settled().then(() => (isSettled = true));
    void commits.stop().then(() => (isStopped = true));
    const each: number[] = [];
    for (let turns = 0; turns < 15; turns += 1) {
      const before = told.length;
      await turn();
      each.push(told.length - before);
      // Waiting receipts go first.
      if (turns === 0) expect([commits.flushes, isSettled, isStopped]).toEqual([2, false, false]);
    }
    expect(told).toEqual(Array.from({ length: THOUSAND }, (_one, at) => at));
    expect(Math.max(...each)).toBeLessThanOrEqual(100);
    expect([isSettled, isStopped]).toEqual([false, false]);
    end(error);
    await turn();
    expect(told).toHaveLength(THOUSAND + 1);
    expect([isSettled, isStopped, commits.waitingRows]).toEqual([true, true, 0]);
  },
);

test('what was stored and is not answered yet counts for what may wait', async () => {
  const { target, end } = standingStill();
  const commits = new GroupCommit(target, { ...BOUNDS, maxWaitingRows: THOUSAND });
  const all = Array.from({ length: THOUSAND }, (_, at) => commits.append(receipt(at)));
  await turn();
  end();
  await turn();
  expect(commits.waitingRows).toBe(THOUSAND);
  await expect(commits.append(receipt(0))).rejects.toMatchObject({ code: 'OVERLOADED' });
  await Promise.all(all);
  expect(commits.waitingRows).toBe(0);
});

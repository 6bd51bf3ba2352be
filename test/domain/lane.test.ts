import { expect, test, vi } from 'vitest';
import { countsOf } from '../../src/scheduling/lane-counts.ts';
import { Lane } from '../../src/scheduling/lane.ts';
import type { LaneLimits } from '../../src/scheduling/lanes.ts';

/** A lane of that many places, of which a tenant gets one fewer and a token two. */
function laneOf(atOnce: number, limits: Partial<LaneLimits> = {}, stalledError?: () => Error): Lane {
  const shares = { perTenant: Math.max(1, atOnce - 1), perToken: Math.max(1, atOnce - 2) };
  return new Lane({ name: 'test', atOnce, ...shares, ...limits }, stalledError && { stalledError });
}

/** Works that end when they are told, and in which order they began. */
function crowd(slots: Lane) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const begin = (tokenId: string, tenant: string): Promise<void> =>
    slots.use({ tokenId, tenant }, () => {
      begun.push(tokenId);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async (): Promise<void> => {
    ends.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, begin, endOne };
}

test('who asks for one thing does not wait for the many of others: by tenants first, then by tokens', async () => {
  const { begun, begin, endOne } = crowd(laneOf(4));
  const all = ['a', 'a', 'a', 'b', 'a', 'b'].map((name) => begin(name, 'crowd'));
  all.push(begin('c', 'other'));
  // One is left for others of the tenant, and one for other tenants.
  expect(begun).toEqual(['a', 'a', 'b', 'c']);
  for (let i = 0; i < 7; i += 1) await endOne();
  await Promise.all(all);
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('where one goes on at a time tenants take turns, and within each its tokens', async () => {
  const { begun, begin, endOne } = crowd(laneOf(1));
  const all = ['a', 'a', 'a', 'a', 'b', 'b'].map((name) => begin(name, 'crowd'));
  await endOne();
  all.push(begin('c', 'other'), begin('c', 'other'));
  for (let i = 0; i < 7; i += 1) await endOne();
  await Promise.all(all);
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'c', 'b', 'a']);
});

test('of places that become free together a tenant gets no more than it may have', async () => {
  const slots = laneOf(2);
  let [running, most] = [0, 0];
  const work = async (): Promise<void> => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  let end = (): void => {};
  const until = new Promise<void>((resolve) => (end = resolve));
  const first = ['a', 'b'].map((name) => slots.use({ tokenId: name, tenant: name }, () => until));
  const crowd = ['c', 'd'].map((name) => slots.use({ tokenId: name, tenant: 'crowd' }, work));
  end();
  await Promise.all([...first, ...crowd]);
  expect(most).toBe(1);
});

/** While time goes on only as far as `advance` says. */
async function withClock(work: (advance: (ms: number) => Promise<unknown>) => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    await work((ms) => vi.advanceTimersByTimeAsync(ms));
  } finally {
    vi.useRealTimers();
  }
}

test('what waits for nothing but a processor waits for its place, however long', () =>
  withClock(async (advance) => {
    const { begun, begin, endOne } = crowd(laneOf(1));
    const all = ['a', 'b', 'c'].map((name) => begin(name, name));
    await advance(60_000);
    expect(begun).toEqual(['a']);
    for (let i = 0; i < 3; i += 1) await endOne();
    await Promise.all(all);
    expect(begun).toEqual(['a', 'b', 'c']);
  }));

test('who has waited for seconds in which nothing ended begins, whatever runs, or is refused', () =>
  withClock(async (advance) => {
    const { begun, begin, endOne } = crowd(laneOf(1, { stalledMs: 2_000 }));
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => begin(name, name));
    await advance(1_500);
    await endOne();
    await advance(1_500);
    expect(begun).toEqual(['a', 'b']);
    await advance(500);
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    for (let i = 0; i < 5; i += 1) await endOne();
    await Promise.all(all);

    const strict = crowd(laneOf(1, { stalledMs: 2_000 }, () => new Error('still')));
    const first = strict.begin('a', 'a');
    const refused = ['b', 'c'].map((name) => strict.begin(name, name).catch((error: Error) => error.message));
    await advance(2_000);
    expect(await Promise.all(refused)).toEqual(['still', 'still']);
    await strict.endOne();
    await first;
    expect(strict.begun).toEqual(['a']);
  }));

test('of many that take half a second each one goes on at a time, however long the others wait', () =>
  withClock(async (advance) => {
    const slots = laneOf(1, { slowAfterMs: 1_000, stalledMs: 2_000 });
    let [running, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 500));
      running -= 1;
    };
    const all = Promise.all(Array.from({ length: 20 }, () => slots.use({ tokenId: 'a', tenant: 'crowd' }, work)));
    await advance(11_000);
    await all;
    expect(most).toBe(1);
  }));

test('what takes long does not keep those of other tenants from beginning, and what fails neither', () =>
  withClock(async (advance) => {
    const slots = laneOf(1, { slowAfterMs: 1_000 });
    const { begun, begin, endOne } = crowd(slots);
    const all = [begin('long', 'one'), begin('next', 'one'), begin('other', 'two')];
    await advance(999);
    expect(begun).toEqual(['long']);
    await advance(1);
    expect(begun).toEqual(['long', 'other']);
    await endOne();
    expect(begun).toEqual(['long', 'other']);
    for (let i = 0; i < 2; i += 1) await endOne();
    await Promise.all(all);
    const party = { tokenId: 'a', tenant: 'one' };
    await expect(slots.use(party, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await expect(slots.use(party, () => Promise.resolve(7))).resolves.toBe(7);
  }));

test('slow work counts for its tenant and token on, unless the lane says that it is free', () =>
  withClock(async (advance) => {
    for (const [slowIsFree, expected] of [
      [false, ['a', 'c']],
      [true, ['a', 'b', 'c']],
    ] as const) {
      const { begun, begin, endOne } = crowd(laneOf(1, { slowAfterMs: 1_000, slowIsFree }));
      const all = [begin('a', 'one')];
      await advance(1_000);
      all.push(begin('b', 'one'));
      await advance(1_000);
      all.push(begin('c', 'two'));
      expect(begun).toEqual(expected);
      for (let i = 0; i < 3; i += 1) await endOne();
      await Promise.all(all);
    }
  }));

test('a token has no more unfinished work than its lane says, and the lane tells what waited and was refused', async () => {
  const name = 'refusing';
  const { begun, begin, endOne } = crowd(laneOf(1, { name, maxUnfinished: 2, refusal: 'Send less.' }));
  const all = [begin('a', 'one'), begin('a', 'one')];
  await expect(begin('a', 'one')).rejects.toMatchObject({ code: 'OVERLOADED', message: 'Send less.' });
  all.push(begin('b', 'one'));
  const counts = countsOf(name);
  expect(counts).toMatchObject({ waiting: 2, waits: 0, refused: 1 });
  for (let i = 0; i < 3; i += 1) await endOne();
  await Promise.all(all);
  expect(begun).toEqual(['a', 'a', 'b']);
  expect(counts).toMatchObject({ waiting: 0, waits: 2, refused: 1 });
  expect(counts.waitedMs).toBeGreaterThan(0);
  await expect(laneOf(1, { maxUnfinished: 2 }).use({ tokenId: 'a', tenant: 'one' }, async () => 7)).resolves.toBe(7);
});

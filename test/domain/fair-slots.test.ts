import { expect, test, vi } from 'vitest';
import { FairSlots } from '../../src/domain/fair-slots.ts';

/** Works that end when they are told, and in which order they began. */
function crowd(slots: FairSlots) {
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
  const { begun, begin, endOne } = crowd(new FairSlots(4));
  const all = ['a', 'a', 'a', 'b', 'a', 'b'].map((name) => begin(name, 'crowd'));
  all.push(begin('c', 'other'));
  // One is left for others of the tenant, and one for other tenants.
  expect(begun).toEqual(['a', 'a', 'b', 'c']);
  for (let i = 0; i < 7; i += 1) await endOne();
  await Promise.all(all);
  expect(begun).toEqual(['a', 'a', 'b', 'c', 'a', 'a', 'b']);
});

test('of places that become free together a tenant gets no more than it may have', async () => {
  const slots = new FairSlots(2);
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

test('what waits for nothing but a processor waits for its place, however long', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const { begun, begin, endOne } = crowd(new FairSlots(1, { isPatient: true }));
    const all = ['a', 'b', 'c'].map((name) => begin(name, name));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(begun).toEqual(['a']);
    for (let i = 0; i < 3; i += 1) await endOne();
    await Promise.all(all);
    expect(begun).toEqual(['a', 'b', 'c']);
  } finally {
    vi.useRealTimers();
  }
});

test('who has waited for seconds begins, whatever runs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const slots = new FairSlots(1);
    const { begun, begin, endOne } = crowd(slots);
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => begin(name, name));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(begun).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(500);
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    for (let i = 0; i < 6; i += 1) await endOne();
    await Promise.all(all);
  } finally {
    vi.useRealTimers();
  }
});

test('what takes long does not keep others from beginning, and what fails neither', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const slots = new FairSlots(1);
    const { begun, begin, endOne } = crowd(slots);
    const long = begin('long', 'one');
    const next = begin('next', 'one');
    await vi.advanceTimersByTimeAsync(999);
    expect(begun).toEqual(['long']);
    await vi.advanceTimersByTimeAsync(1);
    expect(begun).toEqual(['long', 'next']);
    await endOne();
    await endOne();
    await Promise.all([long, next]);
    const party = { tokenId: 'a', tenant: 'one' };
    await expect(slots.use(party, () => Promise.reject(new Error('away')))).rejects.toThrow('away');
    await expect(slots.use(party, () => Promise.resolve(7))).resolves.toBe(7);
  } finally {
    vi.useRealTimers();
  }
});

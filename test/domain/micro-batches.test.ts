import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MicroBatches } from '../../src/scheduling/micro-batches.ts';

describe('what is written in rounds', () => {
  let written: string[];
  const inRounds = () => {
    const mine = written;
    return new MicroBatches<number, string>(async (tenant, items) => {
      mine.push(`${tenant} ${items.join(' ')}`);
      if (items.includes(-1)) throw new Error('not written');
      return items.map((item) => `wrote ${item}`);
    });
  };

  beforeEach(() => {
    written = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => void vi.useRealTimers());

  /** Several turns of the event loop. */
  async function turns(count = 30): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  /** So much later. */
  async function after(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    await turns();
  }

  test('the first one is written at once, and what comes soon after it together in the next round', async () => {
    const rounds = inRounds();
    await rounds.add('a', 1, 1);
    const later = [rounds.add('a', 2, 1), rounds.add('a', 3, 1)];
    await turns();
    expect(written).toEqual(['a 1']);
    await after(200);
    expect(written).toEqual(['a 1', 'a 2 3']);
    expect(await Promise.all(later)).toEqual(['wrote 2', 'wrote 3']);
    await after(200);
    await rounds.add('a', 4, 1);
    expect(written.at(-1)).toBe('a 4');
  });

  test('nobody waits for the rounds of others', async () => {
    const rounds = inRounds();
    for (let item = 0; item < 1_000; item += 1) void rounds.add('a', item, 1);
    await rounds.add('b', 7, 1);
    // Whose turn is first depends on who gave way last.
    expect(written).toContain('b 7');
    expect(written.filter((round) => round.startsWith('a ')).length).toBeLessThan(2);
  });

  test('a round takes so many and so much, in order; too much that waits is refused', async () => {
    const rounds = inRounds();
    const all = Array.from({ length: 1_000 }, (_, item) => rounds.add('a', item, 1));
    expect(() => rounds.add('a', 1_000, 1)).toThrow('send less');
    for (let round = 0; round < 10; round += 1) await after(200);
    await Promise.all(all);
    expect(written.map((round) => round.split(' ').length - 1)).toEqual(Array.from({ length: 10 }, () => 100));
    expect(written.flatMap((round) => round.split(' ').slice(1)).map(Number)).toEqual(all.map((_, item) => item));

    written.length = 0;
    const large = Array.from({ length: 8 }, (_, item) => rounds.add('large', item, 100_000));
    expect(() => rounds.add('large', 8, 4_000_000)).toThrow('send less');
    for (let round = 0; round < 4; round += 1) await after(200);
    await Promise.all(large);
    expect(written).toEqual(['large 0 1', 'large 2 3', 'large 4 5', 'large 6 7']);
    await rounds.add('huge', 1, 10_000_000);
  });

  test('a round that fails is told those of it, and the next goes on; what waits can be waited for', async () => {
    const rounds = inRounds();
    const first = rounds.add('a', -1, 1);
    await expect(first).rejects.toThrow('not written');
    const next = rounds.add('a', 2, 1);
    let isSettled = false;
    const settled = rounds.settled().then(() => (isSettled = true));
    await turns();
    expect(isSettled).toBe(false);
    await after(200);
    await Promise.all([next, settled]);
    expect(written).toEqual(['a -1', 'a 2']);
  });
});

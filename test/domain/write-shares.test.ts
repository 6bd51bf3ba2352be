import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WriteShares } from '../../src/scheduling/write-shares.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** How many values tenants store within ten seconds that always have one request under way, and a single value of another. */
async function stored(tenants: readonly string[], each: number, isAlone = false): Promise<number[]> {
  const shares = new WriteShares();
  const counts = tenants.map(() => 0);
  const state = { isOver: false };
  const store = async (tenant: string, at: number): Promise<void> => {
    while (!state.isOver) {
      const turn = shares.turn(tenant, { values: each });
      if (turn !== null) await turn;
      if (!state.isOver) counts[at]! += each;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const running = tenants.map(store);
  for (let ms = 0; ms < 10_000; ms += 20) {
    if (!isAlone) expect(shares.turn('single', { values: 1 })).toBeNull();
    await vi.advanceTimersByTimeAsync(20);
  }
  state.isOver = true;
  await vi.advanceTimersByTimeAsync(5_000);
  await Promise.all(running);
  return counts;
}

test('who stores very much has three tenths of the time beside others, alone all of it', async () => {
  const [beside] = await stored(['a'], 10_000);
  expect(beside).toBeGreaterThanOrEqual(430_000);
  expect(beside).toBeLessThanOrEqual(490_000);
  expect((await stored(['a'], 10_000, true))[0]).toBeGreaterThan(10_000_000);
});

test('many who do have half of it together', async () => {
  const counts = await stored(
    Array.from({ length: 5 }, (_, at) => `tenant ${at}`),
    1_000,
  );
  const all = counts.reduce((sum, count) => sum + count, 0);
  expect(all).toBeGreaterThan(650_000);
  expect(all).toBeLessThan(900_000);
  expect(Math.min(...counts)).toBeGreaterThan(100_000);
});

test('a stream of single values never waits', async () => {
  const shares = new WriteShares();
  for (let ms = 0; ms < 1_000; ms += 1) {
    void shares.turn('other', { values: 1 });
    // Five thousand a second.
    for (let at = 0; at < 5; at += 1) expect(shares.turn('stream', { values: 1 })).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
  }
});

test('what waits is bounded, and told so', () => {
  const shares = new WriteShares();
  void shares.turn('other', { values: 1 });
  expect(shares.turn('much', { values: 10_000 })).toBeNull();
  for (let at = 0; at < 14; at += 1) expect(shares.turn('much', { values: 10_000 })).not.toBeNull();
  expect(() => shares.turn('much', { values: 20_000 })).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(shares.turn('other', { values: 1 })).toBeNull();
});

test('so is what the log keeps of calls, beyond what is usual', () => {
  const shares = new WriteShares();
  void shares.turn('other', { values: 1 });
  for (let at = 0; at < 1_000; at += 1) expect(shares.turn('calls', { values: 0, characters: 8_000 })).toBeNull();
  for (let at = 0; at < 6; at += 1) expect(shares.turn('calls', { values: 0, characters: 408_192 })).toBeNull();
  expect(shares.turn('calls', { values: 0, characters: 408_192 })).not.toBeNull();
  expect(shares.turn('calls', { values: 0, characters: 8_000 })).toBeNull();
});

test('a few values do not stand behind the bulk of their tenant, and what waits goes on soon when others have left', async () => {
  const shares = new WriteShares();
  void shares.turn('other', { values: 1 });
  expect(shares.turn('much', { values: 10_000 })).toBeNull();
  const from = performance.now();
  let doneMs = 0;
  const waiting = Array.from({ length: 1_000 }, () => shares.turn('much', { values: 100 })!);
  void Promise.all(waiting).then(() => (doneMs = performance.now() - from));
  for (let at = 0; at < 100; at += 1) expect(shares.turn('much', { values: 10 })).toBeNull();
  await vi.advanceTimersByTimeAsync(5_000);
  // A quarter of a second until others count as gone, then 667 ms of work.
  expect(doneMs).toBeGreaterThan(600);
  expect(doneMs).toBeLessThan(1_200);
});

test('nobody waits for minutes behind many who store much: what would is refused', async () => {
  const shares = new WriteShares();
  const tenants = Array.from({ length: 60 }, (_, at) => `tenant ${at}`);
  const waits: number[] = [];
  let refused = 0;
  const begin = async (tenant: string): Promise<void> => {
    const from = performance.now();
    try {
      await shares.turn(tenant, { values: 10_000 });
      waits.push(performance.now() - from);
    } catch {
      refused += 1;
    }
  };
  for (let ms = 0; ms < 40_000; ms += 20) {
    void shares.turn('single', { values: 1 });
    if (ms % 500 === 0) for (const tenant of tenants) void begin(tenant);
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(refused).toBeGreaterThan(0);
  expect(Math.max(...waits)).toBeLessThan(25_000);
});

test('nor does who has stored much before others did', async () => {
  const shares = new WriteShares();
  const sendAll = (): void => {
    void shares.turn('single', { values: 1 });
    for (let at = 0; at < 12; at += 1) void shares.turn(`tenant ${at}`, { values: 10_000 })?.catch(() => {});
  };
  void shares.turn('much', { values: 1_500_000 });
  let begun = false;
  void shares.turn('single', { values: 1 });
  void shares.turn('much', { values: 100 })!.then(() => (begun = true));
  for (let ms = 0; ms < 11_000; ms += 20) {
    try {
      sendAll();
    } catch {
      // They have enough waiting.
    }
    await vi.advanceTimersByTimeAsync(20);
  }
  expect(begun).toBe(true);
});

test('who waits in a slow flush is there', async () => {
  const shares = new WriteShares();
  let done!: () => void;
  const store = (): Promise<number> => new Promise((resolve) => (done = () => resolve(0)));
  const storing = shares.storing('single', { values: 1 }, store);
  await vi.advanceTimersByTimeAsync(1_000);
  for (let at = 0; at < 2; at += 1) void shares.turn('much', { values: 10_000 });
  let begun = false;
  void shares.turn('much', { values: 10_000 })!.then(() => (begun = true));
  await vi.advanceTimersByTimeAsync(200);
  expect(begun).toBe(false);
  done();
  await storing;
  // A quarter of a second later it counts as gone.
  await vi.advanceTimersByTimeAsync(300);
  expect(begun).toBe(true);
});

test('who has waited in a slow flush of another one is still there when that asks again', async () => {
  const shares = new WriteShares();
  const flush = new Promise<number>((resolve) => setTimeout(() => resolve(2_000), 2_000));
  const storing = (tenant: string, values: number): Promise<void> => {
    void shares.turn(tenant, { values });
    return shares.storing(tenant, { values }, () => flush);
  };
  const both = [storing('good', 10), storing('bad', 10_000)];
  await vi.advanceTimersByTimeAsync(2_000);
  await Promise.all(both);
  expect(shares.turn('bad', { values: 10_000 })).not.toBeNull();
  expect(shares.turn('good', { values: 10 })).toBeNull();
});

test('what takes the database longer counts for as long as it took', async () => {
  const shares = new WriteShares();
  const from = performance.now();
  const state = { isOver: false };
  const busy = (async () => {
    for (; !state.isOver; await new Promise((resolve) => setTimeout(resolve, 20)))
      void shares.turn('single', { values: 1 });
  })();
  const slow = (async () => {
    for (let at = 0; at < 6; at += 1) {
      const asked = { values: 10_000 };
      await shares.turn('much', asked);
      const store = async (): Promise<number> => {
        await new Promise((resolve) => setTimeout(resolve, 150));
        return 150;
      };
      await shares.storing('much', asked, store);
    }
    return performance.now() - from;
  })();
  await vi.advanceTimersByTimeAsync(6_000);
  state.isOver = true;
  await vi.advanceTimersByTimeAsync(20);
  await busy;
  // Five of 150 ms, of three tenths of the time, without the burst; and the last.
  expect(await slow).toBeGreaterThan((5 * 150 - 50) / 0.3 + 150 - 100);
});

test('who has stored much is not alone while another one waits for its turn', () => {
  let now = 0;
  const shares = new WriteShares(() => now);
  const much = { values: 10_000 };
  for (let time = 0; time < 20; time += 1) void shares.turn('one', much);
  const other = [1, 2, 3].map(() => shares.turn('other', much));
  expect(other.some((turn) => turn !== null)).toBe(true);
  // Of when it came nothing is known any more; what it waits for has not begun.
  now += 400;
  expect(shares.turn('one', much)).not.toBeNull();
});

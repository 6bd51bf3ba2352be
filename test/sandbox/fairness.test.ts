import { getPriority } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { childrenWith, eventLoopTime, processorMs } from '../support/processor-time.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool, valueOf } from './pool.ts';

let pool: DecoderPool;
afterEach(() => pool.stop());

const LOOP = 'function Decoder() { for (;;); }';

/** The decoder processes of this test's process. */
const processes = (): number[] => childrenWith('decoder.worker');

/** Calls of a good product in `ms` milliseconds, 8 at a time. */
async function throughput(ms: number): Promise<number> {
  const end = performance.now() + ms;
  let runs = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() < end) {
        expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
        runs += 1;
      }
    }),
  );
  return runs;
}

/**
 * What the decoder processes take from everybody else meanwhile, in ms of this process's priority: to a step of `nice`
 * more Linux gives a fifth less. `waitedMs`: for how long the one that did most would have run and was not let.
 */
async function taken(work: Promise<unknown>): Promise<{ takenMs: number; waitedMs: number }> {
  const seen = new Map<number, { ms: number; waitedMs: number }>();
  const sums = new Map<number, { takenMs: number; waitedMs: number }>();
  const look = (isFirst: boolean): void => {
    for (const pid of processes()) {
      try {
        const weight = 0.8 ** (getPriority(pid) - getPriority());
        const now = { ms: processorMs(pid), waitedMs: eventLoopTime(pid).waitedMs };
        const before = seen.get(pid) ?? { ms: 0, waitedMs: 0 };
        seen.set(pid, now);
        if (isFirst) continue;
        const sum = sums.get(pid) ?? { takenMs: 0, waitedMs: 0 };
        sum.takenMs += (now.ms - before.ms) * weight;
        sum.waitedMs += now.waitedMs - before.waitedMs;
        sums.set(pid, sum);
      } catch {
        // It has just ended.
      }
    }
  };
  look(true);
  const timer = setInterval(() => look(false), 20);
  await work.finally(() => clearInterval(timer));
  look(false);
  const all = [...sums.values()].toSorted((a, b) => b.takenMs - a.takenMs);
  return { takenMs: all.reduce((sum, { takenMs }) => sum + takenMs, 0), waitedMs: all[0]!.waitedMs };
}

interface Turn {
  runs: number;
  takenMs: number;
  /** The time that the good product's process ran or was free to: all but what the machine had no processor for. */
  hadMs: number;
}

/** Until that process has had two seconds; a machine that is too busy for that in fifteen is what it is. */
async function turn(): Promise<Turn> {
  const sum: Turn = { runs: 0, takenMs: 0, hadMs: 0 };
  const end = performance.now() + 15_000;
  while (sum.hadMs < 2_000 && performance.now() < end) {
    const from = performance.now();
    const running = throughput(500);
    const { takenMs, waitedMs } = await taken(running);
    sum.runs += await running;
    sum.takenMs += takenMs;
    sum.hadMs += Math.max(0, performance.now() - from - waitedMs);
  }
  return sum;
}

describe('one product cannot take the share of another', () => {
  test.each([
    ['loops for ever', LOOP],
    ['eats memory', 'function Decoder() { var m = new Map(); for (var i = 0; ; i++) m.set(i, {i: i}) }'],
    [
      'uses just less than the limit',
      'function Decoder() { var end = Date.now() + 200; while (Date.now() < end); return [] }',
    ],
  ])(
    'that %s',
    async (_, source) => {
      pool = startPool();
      await throughput(500);
      const alone = await turn();
      const hogging = new AbortController();
      const hogs = { ended: 0 };
      const hog = async (): Promise<void> => {
        while (!hogging.signal.aborted) {
          await pool.run(jobOf(source, { productId: 'hog' })).catch(() => {});
          hogs.ended += 1;
        }
      };
      const calls = Array.from({ length: 12 }, hog);
      try {
        // The first offence may cost the others one limit; here it is let pass, the share is that of every second after it.
        for (let half = 0; half < 10 && hogs.ended === 0; half += 1) await throughput(500);
        hogs.ended = 0;
        const beside = await turn();
        // All that goes beyond the good runs, at what these cost alone, is taken from their time.
        const takenMs = beside.takenMs - (beside.runs * alone.takenMs) / alone.runs;
        expect(1 - takenMs / beside.hadMs).toBeGreaterThan(0.7);
        // Nor do the eight wait for the end of each of its runs.
        expect(beside.runs).toBeGreaterThan(20 * hogs.ended);
      } finally {
        hogging.abort();
        await pool.stop();
        await Promise.all(calls);
      }
    },
    120_000,
  );

  test('the calls beside a first offence wait and do not fail', async () => {
    pool = startPool();
    await valueOf(pool, 'return []');
    const hogs = Promise.allSettled(Array.from({ length: 20 }, () => pool.run(jobOf(LOOP, { productId: 'hog' }))));
    const good = await Promise.all(Array.from({ length: 100 }, () => pool.run(jobOf(GOOD, { productId: 'good' }))));
    for (const result of good) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
    await pool.stop();
    for (const hog of await hogs) {
      // What the machine had no time for is refused.
      if (hog.status === 'fulfilled') expect(hog.value.error).toMatchObject({ kind: 'TIMEOUT' });
      else expect(['OVERLOADED', 'UNAVAILABLE']).toContain((hog.reason as { code: string }).code);
    }
  });

  test('a long run goes on aside, and the others do not wait for its end', async () => {
    pool = startPool({ timeoutMs: 20_000 });
    await throughput(1_000);
    const state = { isLong: true };
    const long = pool
      .run(jobOf('function Decoder() { var end = Date.now() + 3000; while (Date.now() < end); return [1] }'))
      .finally(() => (state.isLong = false));
    let meanwhile = 0;
    while (state.isLong) {
      expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
      if (state.isLong) meanwhile += 1;
    }
    expect(meanwhile).toBeGreaterThan(20);
    expect(outputOf(await long)).toEqual([1]);
  });

  test('jobs that were beside one that killed its process are run again, and it alone is blamed', async () => {
    pool = startPool();
    // Trusted sources share a process without writing after each run, so that blame has to be found out.
    const sources = Array.from(
      { length: 4 },
      (_, i) => `function Decoder(r) { if (r.body === 'kill') { var a = 3n; for (;;) a *= a } return [${i}] }`,
    );
    for (const source of sources) for (let i = 0; i < 12; i += 1) await pool.run(jobOf(source, { productId: source }));
    const kill = jobOf('', {}).input.replace('"body":""', '"body":"kill"');
    const results = await Promise.all(
      sources.flatMap((source, i) =>
        Array.from({ length: 6 }, (_, n) =>
          pool.run(jobOf(source, { productId: source, ...(i === 1 && n === 3 ? { input: kill } : {}) })),
        ),
      ),
    );
    results.forEach((result, at) => {
      if (at === 9) expect(result.error).toMatchObject({ kind: 'TIMEOUT' });
      else expect(outputOf(result)).toEqual([Math.floor(at / 6)]);
    });
  });
});

describe('waiting is bounded', () => {
  test('a product that calls too often is told so, and only that one', async () => {
    pool = startPool({ maxWaiting: 40, timeoutMs: 50 });
    await valueOf(pool, 'return []');
    await pool.run(jobOf(LOOP, { productId: 'hog' }));
    const hogs = Array.from({ length: 30 }, () =>
      pool.run(jobOf(LOOP, { productId: 'hog' })).then(
        () => 'ran',
        (error: { code: string }) => error.code,
      ),
    );
    expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
    const outcomes = await Promise.all(hogs);
    expect(outcomes.filter((code) => code === 'OVERLOADED').length).toBeGreaterThanOrEqual(15);
    expect(outcomes.filter((code) => code === 'ran').length).toBeGreaterThanOrEqual(1);
  });
});

describe('stopping', () => {
  test('what was accepted finishes, what comes later is refused', async () => {
    pool = startPool();
    const accepted = Array.from({ length: 50 }, () => valueOf(pool, 'return [1]'));
    const stopped = pool.stop();
    await expect(pool.run(jobOf(GOOD))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await Promise.all(accepted)).toEqual(accepted.map(() => [1]));
    await stopped;
    expect(pool.ready()).toBe(false);
    await pool.stop();
  });

  test('it is ready when a process has answered', async () => {
    pool = startPool();
    expect(pool.ready()).toBe(false);
    await valueOf(pool, 'return []');
    expect(pool.ready()).toBe(true);
  });
});

describe('signals from outside', () => {
  const LONG = 'function Decoder() { var end = Date.now() + 600; while (Date.now() < end); return [1] }';

  test('an innocent call whose process is killed runs again on a fresh one', async () => {
    const reasons: unknown[] = [];
    pool = startPool({ timeoutMs: 2_000, log: (_level, _message, facts) => reasons.push(facts['reason']) });
    await valueOf(pool, 'return []');
    const run = pool.run(jobOf(LONG));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
    expect(outputOf(await run)).toEqual([1]);
    expect(reasons).toContain('KILLED');
    expect(pool.statistics('product').failures).toEqual({});
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
  });

  test('the second time it is the call that is blamed', async () => {
    pool = startPool({ timeoutMs: 20_000 });
    await valueOf(pool, 'return []');
    const state = { isOver: false };
    const run = pool.run(jobOf(LOOP)).finally(() => (state.isOver = true));
    while (!state.isOver) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      // A second of processor time: more than a start takes.
      for (const pid of processes()) if (processorMs(pid) > 1_000) process.kill(pid, 'SIGKILL');
    }
    expect((await run).error).toMatchObject({ kind: 'OUT_OF_MEMORY' });
  });

  test('SIGTERM, SIGINT and SIGHUP to everybody are the server’s to answer', async () => {
    pool = startPool({ timeoutMs: 2_000 });
    await valueOf(pool, 'return []');
    const before = processes();
    const run = pool.run(jobOf(LONG));
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const pid of before) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
    expect(outputOf(await run)).toEqual([1]);
    expect(processes()).toEqual(expect.arrayContaining(before.slice(0, 1)));
  });

  test('without their parent they end', async () => {
    pool = startPool();
    await valueOf(pool, 'return []');
    expect(processes().length).toBeGreaterThan(0);
    await pool.stop();
    expect(processes()).toEqual([]);
  });
});

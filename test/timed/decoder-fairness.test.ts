import { getPriority } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { childrenWith, eventLoopTime, processorMs } from '../support/processor-time.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool } from '../sandbox/pool.ts';

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
  ])('that %s', async (_, source) => {
    pool = startPool();
    await throughput(500);
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
      const { ended } = hogs;
      hogging.abort();
      await Promise.all(calls);
      // On the same process as before: what a run costs is another on each, by how it was compiled.
      const alone = await turn();
      // All that goes beyond the good runs, at what these cost alone, is taken from their time.
      const takenMs = beside.takenMs - (beside.runs * alone.takenMs) / alone.runs;
      expect(1 - takenMs / beside.hadMs).toBeGreaterThan(0.7);
      // Nor do the eight wait for the end of each of its runs.
      expect(beside.runs).toBeGreaterThan(20 * ended);
    } finally {
      hogging.abort();
      await pool.stop();
      await Promise.all(calls);
    }
  });
});

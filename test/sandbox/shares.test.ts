import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool } from './pool.ts';

let pool: DecoderPool;
afterEach(() => pool.stop());

const LOOP = 'function Decoder() { for (;;); }';
const LONG = 'function Decoder() { var end = Date.now() + 200; while (Date.now() < end); return [] }';

const good = async (): Promise<number> => {
  const from = performance.now();
  expect(outputOf(await pool.run(jobOf(GOOD, { workspaceId: 'good', productId: 'good' })))).toEqual(GOOD_OUTPUT);
  return performance.now() - from;
};

/** How long each of its calls takes, one after the other, in ascending order. */
async function latencies(ms: number): Promise<number[]> {
  const took: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end;) took.push(await good());
  return took.toSorted((a, b) => a - b);
}

describe('ever new products of one workspace cost another no limit of processor time each', () => {
  test.each([
    ['loop for ever', () => LOOP],
    ['use just less than the limit', () => LONG],
    ['loop after ten quick runs', (run: number) => (run < 10 ? GOOD : LOOP)],
  ])('that %s', { timeout: 120_000 }, async (_, sourceAt) => {
    pool = startPool();
    for (let run = 0; run < 50; run += 1) await good();
    const hogging = { isOver: false, products: 0, ended: 0 };
    const hog = async (): Promise<void> => {
      for (let run = Infinity, productId = ''; !hogging.isOver; run += 1) {
        if (run > 10) [run, productId] = [0, `hog ${(hogging.products += 1)}`];
        const source = sourceAt(run);
        await pool.run(jobOf(source, { workspaceId: 'hog', productId })).catch(() => {});
        if (source !== GOOD) [hogging.ended, run] = [hogging.ended + 1, 10];
      }
    };
    const hogs = Array.from({ length: 12 }, hog);
    try {
      // What the first ones do nobody can know.
      for (const end = performance.now() + 10_000; hogging.ended < 4 && performance.now() < end;) await latencies(250);
      const took = await latencies(4_000);
      expect(took[Math.floor(took.length * 0.98)]).toBeLessThan(100);
      // Nor do these wait for ever.
      const before = hogging.ended;
      await expect.poll(() => hogging.ended, { timeout: 60_000 }).toBeGreaterThan(before);
    } finally {
      hogging.isOver = true;
      await pool.stop();
      await Promise.all(hogs);
    }
  });
});

test('many products of one workspace make room for each other, not for themselves at the cost of another', async () => {
  pool = startPool();
  const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!;
  const call = async (workspaceId: string, productId: string): Promise<number> => {
    const from = performance.now();
    expect(outputOf(await pool.run(jobOf(GOOD, { workspaceId, productId })))).toEqual(GOOD_OUTPUT);
    return performance.now() - from;
  };
  for (let run = 0; run < 20; run += 1) await call('good', 'good');
  const [opened, again]: [number[], number[]] = [[], []];
  for (let round = 0; round < 6; round += 1) {
    for (let at = 0; at < 70; at += 1) opened.push(await call('many', `${round} ${at}`));
    again.push(await call('good', 'good'));
  }
  expect(median(again)).toBeLessThan(median(opened) / 3);
});

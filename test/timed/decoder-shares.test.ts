import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool } from '../sandbox/pool.ts';
import { median } from '../support/figures.ts';

let pool: DecoderPool;
afterEach(() => pool.stop());

const LOOP = 'function Decoder() { for (;;); }';
const LONG = 'function Decoder() { var end = Date.now() + 200; while (Date.now() < end); return [] }';

const good = async (): Promise<number> => {
  const from = performance.now();
  expect(outputOf(await pool.run(jobOf(GOOD, { workspaceId: 'good', productId: 'good' })))).toEqual(GOOD_OUTPUT);
  return performance.now() - from;
};

/** How long each of its calls takes, two hundred a second at most, in ascending order. */
async function latencies(ms: number): Promise<number[]> {
  const took: number[] = [];
  for (const end = performance.now() + ms; performance.now() < end; await pause(5)) took.push(await good());
  return took.toSorted((a, b) => a - b);
}

/** Calls of a workspace that never end: `sourceAt` says what its `at`th product runs in its `run`th call, or null: no more. */
async function beside(
  sourceAt: (run: number, at: number) => string | null,
  senders: number,
  work: (ended: () => number) => Promise<void>,
) {
  const hogging = { isOver: false, products: 0, ended: 0 };
  const hog = async (): Promise<void> => {
    while (!hogging.isOver) {
      const at = hogging.products;
      hogging.products += 1;
      for (
        let run = 0, source = sourceAt(0, at);
        source !== null && !hogging.isOver;
        source = sourceAt((run += 1), at)
      ) {
        await pool.run(jobOf(source, { workspaceId: 'hog', productId: `hog ${at}` })).catch(() => {});
        if (source !== GOOD) hogging.ended += 1;
      }
    }
  };
  const hogs = Array.from({ length: senders }, hog);
  try {
    await work(() => hogging.ended);
  } finally {
    hogging.isOver = true;
    await pool.stop();
    await Promise.all(hogs);
  }
}

describe('products of one workspace cost another no limit of processor time each', () => {
  // Eight that never end are more than two seconds in one line; each is waited for at the end.
  test.each<[string, number, (run: number, at: number) => string | null]>([
    ['ever new ones that loop for ever', 8, (run) => (run === 0 ? LOOP : null)],
    ['ever new ones that use just less than the limit', 8, (run) => (run === 0 ? LONG : null)],
    ['ever new ones that loop after ten quick runs', 8, (run) => (run < 10 ? GOOD : run === 10 ? LOOP : null)],
    ['a dozen with a long run among forty', 12, (run, at) => (run > 30 && (run + 3 * at) % 40 === 0 ? LONG : GOOD)],
  ])('%s', async (_, senders, sourceAt) => {
    pool = startPool();
    for (let run = 0; run < 50; run += 1) await good();
    await beside(sourceAt, senders, async (ended) => {
      // What the first ones do nobody can know.
      for (const end = performance.now() + 10_000; ended() < 4 && performance.now() < end;) await latencies(250);
      const took = await latencies(2_000);
      expect(took[Math.floor(took.length * 0.9)]).toBeLessThan(50);
      // Nor do these wait for ever.
      const before = ended();
      await expect.poll(ended).toBeGreaterThan(before);
    });
  });
});

test('many products of one workspace make room for each other, not for themselves at the cost of another', async () => {
  pool = startPool();
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

/** Of a workspace that has 64 calls open, how many end between a call of another and its end: nine in ten times that or less. */
async function endedBefore(source: string): Promise<number> {
  pool = startPool();
  for (let run = 0; run < 50; run += 1) await good();
  const hogging = { isOver: false, ended: 0 };
  const hog = async (): Promise<void> => {
    while (!hogging.isOver) {
      await pool.run(jobOf(source, { workspaceId: 'hog', productId: 'hog' })).catch(() => {});
      hogging.ended += 1;
    }
  };
  const hogs = Array.from({ length: 64 }, hog);
  const between: number[] = [];
  // What they take is known, and trusted, after some runs of each.
  await expect.poll(() => hogging.ended).toBeGreaterThan(500);
  for (let call = 0; call < 40; call += 1) {
    const before = hogging.ended;
    await good();
    between.push(hogging.ended - before);
    await pause(20);
  }
  hogging.isOver = true;
  await Promise.all(hogs);
  return between.toSorted((a, b) => a - b)[36]!;
}

test('a call stands behind ten milliseconds of what a process was given before it, and not behind 32 runs', async () => {
  const busy = 'function Decoder() { var end = Date.now() + 3; while (Date.now() < end); return [] }';
  expect(await endedBefore(busy)).toBeLessThan(16);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const FILE = new URL('baseline.json', import.meta.url);
/** What is slower than its baseline by more is slower, whatever machine it runs on. */
const MARGIN = 1.6;
const TURNS = 7;

/** Processor time of a fixed piece of work on this machine just now, in ms: the unit of the baseline. */
export function referenceMs(): number {
  const took = Array.from({ length: TURNS }, () => {
    const before = process.threadCpuUsage();
    const list = Array.from({ length: 30_000 }, (_, at) => ({ at, name: `n${(at * 7_919) % 30_000}` }));
    const sorted = list.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    JSON.parse(JSON.stringify(sorted));
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return took.toSorted((a, b) => a - b)[Math.floor(TURNS / 2)]!;
}

/** Processor time of work that can be done again, in ms: the least of several times, as collecting garbage adds to it. */
export function leastMs(work: () => unknown, tries = 3): number {
  const took = Array.from({ length: tries }, () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...took);
}

/**
 * Expects that a measured time, in ms, is no more than the stored multiple of the reference allows, with a margin. With
 * `TIMED_BASELINE=write` in the environment the multiple is stored instead.
 */
export function expectAsFast(name: string, ms: number): void {
  const ratio = ms / referenceMs();
  const baseline = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, number>;
  if (process.env['TIMED_BASELINE'] === 'write') {
    baseline[name] = Number(ratio.toFixed(2));
    const sorted = Object.entries(baseline).toSorted(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
    return;
  }
  expect(baseline, 'the baseline has it').toHaveProperty([name]);
  expect(ratio, `${name}, in times of the reference`).toBeLessThan(baseline[name]! * MARGIN);
}

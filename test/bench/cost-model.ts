import { type Amounts, type Part, PARTS, PROCESSOR_PARTS } from './processor-parts.ts';

/**
 * What a load consists of. `record`, `call`: requests, with their values; `look`: readings that a node with subscribers
 * looks at, `watched`: those of them that somebody follows, `event`: readings handed to a subscriber; `query`: operations of
 * charts, with their series (`chart`), the chunks of 1,000 values that these cover and their points; `list`: pages of
 * devices with their latest values, while they are written to; `compacted`: values moved into chunks.
 */
export const UNITS = [
  'record',
  'recordValue',
  'call',
  'callValue',
  'look',
  'watched',
  'event',
  'query',
  'chart',
  'chunk',
  'point',
  'list',
  'listed',
  'compacted',
  'second',
] as const;
export type Unit = (typeof UNITS)[number];
/** How many of each; those that are left out are none. */
export type Counts = Partial<Record<Unit, number>>;
/** What one of each unit uses in each part; µs or bytes. */
export type Costs = Record<Unit, Amounts>;

/** Something measured: what was asked, and what it used. */
export interface Measured {
  counts: Counts;
  used: Amounts;
}

const TURNS = 20_000;

/** The costs, none below zero, that explain the runs best; a run counts by how wrong it is for its length, a very short one less. */
export function fitCosts(runs: readonly Measured[]): Costs {
  const costs = Object.fromEntries(UNITS.map((unit) => [unit, {}])) as Costs;
  for (const part of PARTS) {
    const sizes = runs.map(({ used }) => (isTime(part) ? micros(used) : used[part]));
    const least = sizes.reduce((sum, size) => sum + size, 1) / runs.length / 20;
    const scales = sizes.map((size) => 1 / Math.max(size, least));
    const rows = runs.map(({ counts }, at) => UNITS.map((unit) => (counts[unit] ?? 0) * scales[at]!));
    const found = leastSquares(rows, runs.map(({ used }, at) => used[part] * scales[at]!)); // oxfmt-ignore
    UNITS.forEach((unit, at) => (costs[unit][part] = found[at]!));
  }
  return costs;
}

/** What the counts use in each part. */
export function predict(costs: Costs, counts: Counts): Amounts {
  const sum = (part: Part): number =>
    UNITS.reduce((total, unit) => total + (counts[unit] ?? 0) * (costs[unit][part] ?? 0), 0);
  return Object.fromEntries(PARTS.map((part) => [part, sum(part)])) as Amounts;
}

/** Processor time in all parts together. */
export function micros(used: Amounts): number {
  return PROCESSOR_PARTS.reduce((sum, part) => sum + used[part], 0);
}

function isTime(part: Part): boolean {
  return (PROCESSOR_PARTS as readonly Part[]).includes(part);
}

/** One unknown after the other, each as good as it can be without falling below zero. */
function leastSquares(rows: readonly number[][], wanted: readonly number[]): number[] {
  const found = UNITS.map(() => 0);
  const rest = [...wanted];
  const squares = UNITS.map((_, column) => rows.reduce((sum, row) => sum + row[column]! ** 2, 0));
  for (let turn = 0, moved = 1; turn < TURNS && moved > 1e-9; turn++) {
    moved = 0;
    squares.forEach((square, column) => {
      if (square === 0) return;
      const slope = rows.reduce((sum, row, at) => sum + row[column]! * rest[at]!, 0);
      const next = Math.max(0, found[column]! + slope / square);
      const step = next - found[column]!;
      found[column] = next;
      moved = Math.max(moved, Math.abs(step) * Math.sqrt(square));
      if (step !== 0) rows.forEach((row, at) => (rest[at]! -= row[column]! * step));
    });
  }
  return found;
}

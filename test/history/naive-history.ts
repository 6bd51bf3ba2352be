import type { Aggregation, GapFill } from '../../src/domain/measurements/series-request.ts';

/** A value at a time in ms UTC. */
export interface Point {
  t: number;
  v: number | string | boolean;
}

type Shown = number | string | boolean | null;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Local date and time as the wall shows them, digit by digit. */
function wall(t: number, zone: string): { days: number; month: number; hour: number; shown: number } {
  let format = formats.get(zone);
  if (format === undefined) {
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const; // prettier-ignore
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...numeric });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(t).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  const shown = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return { days: Math.floor(shown / 86_400_000), month: year! * 12 + month! - 1, hour: hour!, shown };
}

/** What all moments of one bucket have in common. */
function label(t: number, resolution: string, zone: string): string {
  const [, digits, unit] = /^(\d+)(\w+)$/.exec(resolution)!;
  const n = Number(digits);
  if (unit === 's') return String(Math.floor(t / (n * 1000)));
  if (unit === 'm') return String(Math.floor(t / (n * 60_000)));
  const { days, month, hour, shown } = wall(t, zone);
  if (unit === 'h') return `${days} ${Math.floor(hour / n)} ${n === 1 ? Math.round((shown - t) / 3_600_000) : ''}`;
  if (unit === 'd') return String(Math.floor(days / n));
  if (unit === 'w') return String(Math.floor((days + 3) / (7 * n)));
  if (unit === 'mo') return String(Math.floor(month / n));
  return String(Math.floor(month / 12 / n));
}

const WIDTH: Record<string, number> = { s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8, mo: 2.6784e9, y: 3.16224e10 };

/** Begins of all buckets of a range, found by asking for the label of one moment after the other. */
function begins(resolution: string, zone: string, from: number, to: number): number[] {
  const key = `${resolution} ${zone} ${from} ${to}`;
  if (lastBegins.key !== key) lastBegins = { key, found: findBegins(resolution, zone, from, to) };
  return lastBegins.found;
}

let lastBegins: { key: string; found: number[] } = { key: '', found: [] };

function findBegins(resolution: string, zone: string, from: number, to: number): number[] {
  const [, digits, unit] = /^(\d+)(\w+)$/.exec(resolution)!;
  const most = Number(digits) * WIDTH[unit!]! + 2 * 3.6e6;
  const bisect = (low: number, high: number, sought: (t: number) => boolean): number => {
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (sought(middle)) high = middle;
      else low = middle;
    }
    return high;
  };
  const own = label(from, resolution, zone);
  const found = [bisect(from - most, from, (t) => label(t, resolution, zone) === own)];
  for (;;) {
    const at = found.at(-1)!;
    const here = label(at, resolution, zone);
    const next = bisect(at, at + most, (t) => label(t, resolution, zone) !== here);
    if (next >= to) return found;
    found.push(next);
  }
}

function numbers(points: Point[]): number[] {
  return points.map(({ v }) => Number(v));
}

function rises(previous: number | null, values: number[]): number {
  let sum = 0;
  let before = previous ?? values[0]!;
  for (const value of values) {
    sum += value < before ? value : value - before;
    before = value;
  }
  return sum;
}

function aggregate(aggregation: Aggregation, points: Point[], previous: Point | null): Shown {
  const values = numbers(points);
  switch (aggregation) {
    case 'AVG':
      return values.reduce((a, b) => a + b, 0) / values.length;
    case 'SUM':
      return values.reduce((a, b) => a + b, 0);
    case 'MIN':
      return Math.min(...values);
    case 'MAX':
      return Math.max(...values);
    case 'COUNT':
      return points.length;
    case 'FIRST':
      return points[0]!.v;
    case 'LAST':
      return points.at(-1)!.v;
    case 'DIFFERENCE':
      return rises(previous === null ? null : Number(previous.v), values);
  }
}

/** Buckets of a history over plain points in time order, written from the contract's words alone. */
export function naiveBuckets(
  all: readonly Point[],
  query: { from: number; to: number; resolution: string; zone: string; aggregation: Aggregation; fill: GapFill },
): { timestamps: number[]; values: Shown[] } {
  const { from, to, resolution, zone, aggregation, fill } = query;
  const starts = begins(resolution, zone, from, to);
  const points = all.filter(({ t }) => t >= from && t < to);
  const before = all.findLast(({ t }) => t < from) ?? null;
  const filled = starts.map((start, i) => {
    const end = starts[i + 1] ?? Infinity;
    const inside = points.filter(({ t }) => t >= start && t < end);
    if (inside.length === 0) return { start, value: null };
    const previous = all.findLast(({ t }) => t < inside[0]!.t) ?? null;
    return { start, value: aggregate(aggregation, inside, previous) };
  });
  const isValue = !['SUM', 'COUNT', 'DIFFERENCE'].includes(aggregation);
  const asNumber = aggregation !== 'FIRST' && aggregation !== 'LAST';
  const result: { start: number; value: Shown }[] = [];
  filled.forEach(({ start, value }, i) => {
    if (value !== null) return result.push({ start, value });
    const left = filled.slice(0, i).findLast((bucket) => bucket.value !== null);
    const right = filled.slice(i).find((bucket) => bucket.value !== null);
    const earlier = isValue && before !== null ? (asNumber ? Number(before.v) : before.v) : null;
    if (fill === 'NULL') return result.push({ start, value: null });
    if (fill === 'PREVIOUS') return result.push({ start, value: left ? left.value : earlier });
    if (fill === 'LINEAR') {
      if (!left || !right) return result.push({ start, value: null });
      const share = (start - left.start) / (right.start - left.start);
      return result.push({ start, value: Number(left.value) + (Number(right.value) - Number(left.value)) * share });
    }
    return undefined;
  });
  return { timestamps: result.map(({ start }) => start), values: result.map(({ value }) => value) };
}

/** Sum up of a range, likewise. */
export function naiveStatistics(all: readonly Point[], from: number, to: number): Record<string, unknown> {
  const points = all.filter(({ t }) => t >= from && t < to);
  const before = all.findLast(({ t }) => t < from) ?? null;
  if (points.length === 0) return { count: 0 };
  const values = numbers(points);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return {
    count: points.length,
    min,
    minAt: points[values.indexOf(min)]?.t,
    max,
    maxAt: points[values.indexOf(max)]?.t,
    average: aggregate('AVG', points, null),
    sum: aggregate('SUM', points, null),
    first: points[0],
    last: points.at(-1),
    difference: aggregate('DIFFERENCE', points, before),
  };
}

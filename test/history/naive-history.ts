import type { FieldMeaning } from '../../src/domain/entities/field.ts';
import type { Aggregation, GapFill } from '../../src/domain/ports/series-request.ts';

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
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' } as const; // oxfmt-ignore
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

function numbers(points: readonly Point[]): number[] {
  return points.map(({ v }) => Number(v));
}

/** What a field means (CONTRACT 7, Meaning); left out: GAUGE. `now`: no value holds beyond it. */
export interface NaiveMeaning {
  meaning?: FieldMeaning;
  overflowAt?: number | null;
  now?: number;
}

type Fall = 'noise' | 'gaps' | 'overflows' | 'restarts';

/** What each value adds to a difference, the first of them nothing, and what its fall was taken for. */
function stepsOf(
  all: readonly Point[],
  { meaning = 'GAUGE', overflowAt = null }: NaiveMeaning,
): { adds: number; fall: Fall | null }[] {
  const values = numbers(all);
  let stands = values[0]!;
  return values.map((value, i) => {
    const before = stands;
    if (meaning === 'ANGLE') {
      stands = value;
      let turn = value - before;
      while (turn >= 180) turn -= 360;
      while (turn < -180) turn += 360;
      return { adds: turn, fall: null };
    }
    if (value >= before || meaning === 'TOTAL') {
      stands = value;
      return { adds: value - before, fall: null };
    }
    if (10 * (before - value) < Math.abs(before)) {
      stands = value;
      return { adds: value - before, fall: 'noise' };
    }
    if (meaning === 'COUNTER' && i + 1 < values.length && values[i + 1]! >= before) return { adds: 0, fall: 'gaps' };
    stands = value;
    const isNear = meaning === 'COUNTER' && overflowAt !== null && before >= 0.9 * overflowAt && before <= overflowAt;
    return isNear ? { adds: overflowAt - before + value, fall: 'overflows' } : { adds: value, fall: 'restarts' };
  });
}

/** Sums of all values between the times by how long each of them holds there, in ms; null: none does. */
function heldBetween(
  all: readonly Point[],
  from: number,
  to: number,
): { ms: number; sum: number; x: number; y: number } | null {
  const held = { ms: 0, sum: 0, x: 0, y: 0 };
  all.forEach(({ t, v }, i) => {
    const ms = Math.min(all[i + 1]?.t ?? Infinity, to) - Math.max(t, from);
    if (ms <= 0) return;
    held.ms += ms;
    held.sum += ms * Number(v);
    held.x += ms * Math.cos((Number(v) / 180) * Math.PI);
    held.y += ms * Math.sin((Number(v) / 180) * Math.PI);
  });
  return held.ms > 0 ? held : null;
}

function direction(x: number, y: number): number {
  const degrees = (Math.atan2(y, x) / Math.PI) * 180;
  const rounded = Math.round((degrees < 0 ? degrees + 360 : degrees) * 1e9) / 1e9;
  return rounded === 360 ? 0 : rounded;
}

/** Of a bucket: the values in it, and all there are. */
interface Bucket {
  inside: Point[];
  all: readonly Point[];
  steps: { adds: number; fall: Fall | null }[];
  from: number;
  to: number;
}

/** undefined: the bucket is empty. */
function aggregate(aggregation: Aggregation, bucket: Bucket, how: NaiveMeaning): Shown | undefined {
  const { inside, all, from, to } = bucket;
  const values = numbers(inside);
  const isAngle = how.meaning === 'ANGLE';
  if (aggregation === 'TIME_AVG' || (how.meaning === 'STATE' && (aggregation === 'AVG' || aggregation === 'SUM'))) {
    const held = heldBetween(all, from, Math.min(to, how.now ?? Infinity));
    if (held === null) return inside.length === 0 ? undefined : aggregation === 'SUM' ? 0 : values.at(-1)!;
    if (aggregation === 'SUM') return held.sum / 1000;
    return isAngle ? direction(held.x, held.y) : held.sum / held.ms;
  }
  if (inside.length === 0) return undefined;
  switch (aggregation) {
    case 'AVG':
      if (isAngle) {
        const radians = values.map((value) => (value / 180) * Math.PI);
        const sum = (of: (angle: number) => number): number => radians.reduce((total, angle) => total + of(angle), 0);
        return direction(sum(Math.cos), sum(Math.sin));
      }
      return values.reduce((a, b) => a + b, 0) / values.length;
    case 'SUM':
      return values.reduce((a, b) => a + b, 0);
    case 'MIN':
      return Math.min(...values);
    case 'MAX':
      return Math.max(...values);
    case 'COUNT':
      return inside.length;
    case 'FIRST':
      return inside[0]!.v;
    case 'LAST':
      return inside.at(-1)!.v;
    case 'DIFFERENCE':
      return inside.reduce((sum, point) => sum + bucket.steps[all.indexOf(point)]!.adds, 0);
  }
}

/** Buckets of a history over plain points in time order, written from the contract's words alone. */
export function naiveBuckets(
  all: readonly Point[],
  query: {
    from: number;
    to: number;
    resolution: string;
    zone: string;
    aggregation: Aggregation;
    fill: GapFill;
  } & NaiveMeaning,
): { timestamps: number[]; values: Shown[] } {
  const { from, to, resolution, zone, aggregation, fill } = query;
  const starts = begins(resolution, zone, from, to);
  const points = all.filter(({ t }) => t >= from && t < to);
  const before = all.findLast(({ t }) => t < from) ?? null;
  const steps = aggregation === 'DIFFERENCE' ? stepsOf(all, query) : [];
  let next = 0;
  const filled = starts.map((start, i) => {
    const end = Math.min(starts[i + 1] ?? Infinity, to);
    const inside: Point[] = [];
    while (next < points.length && points[next]!.t < end) inside.push(points[next++]!);
    const bucket = { inside, all, steps, from: Math.max(start, from), to: end };
    return { start, value: aggregate(aggregation, bucket, query) ?? null };
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
      const [a, b] = [Number(left.value), Number(right.value)];
      if (query.meaning !== 'ANGLE' || !isValue) return result.push({ start, value: a + (b - a) * share });
      const turn = ((((b - a + 180) % 360) + 360) % 360) - 180;
      return result.push({ start, value: (((a + turn * share) % 360) + 360) % 360 });
    }
    return undefined;
  });
  return { timestamps: result.map(({ start }) => start), values: result.map(({ value }) => value) };
}

/** Sum up of a range, likewise. */
export function naiveStatistics(
  all: readonly Point[],
  from: number,
  to: number,
  how: NaiveMeaning = {},
): Record<string, unknown> {
  const inside = all.filter(({ t }) => t >= from && t < to);
  const steps = stepsOf(all, how);
  const bucket = { inside, all, steps, from, to };
  const average = aggregate('AVG', bucket, how) ?? null;
  const sum = aggregate('SUM', bucket, how) ?? null;
  if (inside.length === 0) return how.meaning === 'STATE' ? { count: 0, average, sum } : { count: 0 };
  const values = numbers(inside);
  const extremes = how.meaning === 'ANGLE' ? [] : [Math.min(...values), Math.max(...values)];
  const falls = inside.map((point) => steps[all.indexOf(point)]!.fall);
  const fallen = (kind: Fall): number => falls.filter((fall) => fall === kind).length;
  const judged = ['GAUGE', 'COUNTER'].includes(how.meaning ?? 'GAUGE');
  return {
    count: inside.length,
    min: extremes[0] ?? null,
    minAt: inside[values.indexOf(extremes[0]!)]?.t ?? null,
    max: extremes[1] ?? null,
    maxAt: inside[values.indexOf(extremes[1]!)]?.t ?? null,
    average,
    sum,
    first: inside[0],
    last: inside.at(-1),
    difference: aggregate('DIFFERENCE', bucket, how),
    falls: judged
      ? { noise: fallen('noise'), gaps: fallen('gaps'), overflows: fallen('overflows'), restarts: fallen('restarts') }
      : null,
  };
}

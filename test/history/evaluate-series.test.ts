import { expect, test } from 'vitest';
import { evaluateSeries, segmentsToDecode } from '../../src/domain/history/evaluate-series.ts';
import { parseResolution } from '../../src/domain/history/resolution.ts';
import { gridEdges } from '../../src/domain/history/time-grid.ts';
import type { FieldType } from '../../src/domain/entities/field.ts';
import { fromStoredValue } from '../../src/domain/measurements/field-value.ts';
import type { Segment } from '../../src/domain/measurements/segment.ts';
import {
  AGGREGATIONS,
  GAP_FILLS,
  type PointsAnswer,
  type SeriesRequest,
  type SeriesView,
  type StatisticsAnswer,
} from '../../src/domain/ports/series-request.ts';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import { summarize } from '../../src/domain/measurements/summarize.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { naiveBuckets, naiveStatistics, type Point } from './naive-history.ts';

const START = Date.parse('2024-03-20T00:00:00Z');
const DAY = 86_400_000;

type Random = () => number;

/** Values at random times, with gaps of days, over some 20 days. */
function randomValues(random: Random, next: (random: Random) => StoredValue): { t: number; v: StoredValue }[] {
  let t = START;
  return Array.from({ length: 1500 }, () => {
    t += random() < 0.004 ? Math.floor(random() * 3 * DAY) : 1 + Math.floor(random() * 1_200_000);
    return { t, v: next(random) };
  });
}

const KINDS: [FieldType, (random: Random) => StoredValue][] = [
  ['FLOAT', (random) => Math.round(random() * 1e4) / 100],
  ['FLOAT', (random) => (random() - 0.5) * 10 ** Math.floor(random() * 12)],
  ['INTEGER', (random) => Math.floor(random() * 100)],
  ['INTEGER', (random) => (random() < 0.01 ? 1.5 : Math.floor(random() * 100))],
  ['BOOLEAN', (random) => (random() < 0.3 ? 1 : 0)],
  ['BOOLEAN', (random) => (random() < 0.01 ? 7 : random() < 0.3 ? 1 : 0)],
  ['STRING', (random) => ['open', 'closed', 'ajar'][Math.floor(random() * 3)]!],
  ['STRING', (random) => (random() < 0.5 ? Math.floor(random() * 10) : 'text')],
  ['GEOLOCATION', (random) => (random() < 0.1 ? 'nowhere' : `(${Math.floor(random() * 90)},1)`)],
  ['FLOAT', (random) => (random() < 0.1 ? '12.5' : random() < 0.2 ? 'no number' : random())],
];

/** Cut at random places into segments, as chunks and merged readings are. */
function segmentsOf(random: Random, values: { t: number; v: StoredValue }[]): Segment[] {
  const segments: Segment[] = [];
  for (let at = 0; at < values.length;) {
    const some = values.slice(at, (at += 1 + Math.floor(random() ** 3 * 200)));
    const timestamps = Float64Array.from(some, ({ t }) => t);
    const stored = some.map(({ v }) => v);
    const numbers = stored.every((v) => typeof v === 'number') ? Float64Array.from(stored) : null;
    const summary = numbers && random() < 0.9 ? summarize(timestamps, numbers) : null;
    const columns = { timestamps, values: numbers ?? stored };
    segments.push({ firstAt: some[0]!.t, lastAt: some.at(-1)!.t, count: some.length, summary, columns });
  }
  return segments;
}

/** As a store does it: only what is asked for is decoded. */
function answer(request: SeriesRequest, whole: Segment[], all: { t: number; v: StoredValue }[]) {
  const { from, to } = request;
  const segments = whole.filter(({ firstAt, lastAt }) => lastAt >= from && firstAt < to);
  const wanted = new Set(segmentsToDecode(request, segments.map((segment) => ({ ...segment, columns: null })))); // oxfmt-ignore
  const given = segments.map((segment, i) => (wanted.has(i) ? segment : { ...segment, columns: null }));
  const earlier = all.findLast(({ t }) => t < Math.min(from, segments[0]?.firstAt ?? from));
  const result = evaluateSeries(request, given, earlier ? { timestamp: earlier.t, value: earlier.v } : null);
  return { ...result, decoded: wanted.size, of: segments.length };
}

function close(found: ArrayLike<unknown>, expected: readonly unknown[], what: unknown[]): void {
  expect([...what, found.length]).toEqual([...what, expected.length]);
  for (let i = 0; i < expected.length; i++) {
    const [a, b] = [found[i], expected[i]];
    const same =
      typeof a === 'number' && typeof b === 'number'
        ? Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e3)
        : Object.is(a, b);
    if (!same && !(b === null && Number.isNaN(a))) expect([...what, i, a]).toEqual([...what, i, b]);
  }
}

test('every aggregation, fill, type and grid is what a naive reckoning over the plain values gives, decoded or summed up', () => {
  const random = seededRandom(8);
  let [decoded, of] = [0, 0];
  for (const [fieldType, next] of KINDS) {
    const all = randomValues(random, next);
    const segments = segmentsOf(random, all);
    const fitting = all.flatMap(({ t, v }): Point[] => {
      const value = fromStoredValue({ type: fieldType }, v);
      return value === null ? [] : [{ t, v: typeof value === 'boolean' ? Number(value) : value }];
    });
    const numeric = fieldType !== 'STRING' && fieldType !== 'GEOLOCATION';
    for (const [resolution, zone] of [
      ['1h', 'Europe/Berlin'],
      ['6h', 'Asia/Kathmandu'],
      ['1d', 'Australia/Sydney'],
      ['20m', 'UTC'],
      ['1w', 'America/New_York'],
    ] as const) {
      // oxfmt-ignore
      const from = START + Math.floor(random() * 8 * DAY);
      const to = from + 1 + Math.floor(random() * 6 * DAY);
      const before = all.findLast(({ t }) => t < from);
      const knownBefore = before !== undefined && fromStoredValue({ type: fieldType }, before.v) !== null;
      // A last value that does not fit the type is none: nothing older takes its place.
      const points = knownBefore ? fitting : fitting.filter(({ t }) => t >= from);
      const edges = gridEdges(parseResolution(resolution), zone, from, to, 100_000)!;
      const asked = AGGREGATIONS.filter((name) => numeric || ['FIRST', 'LAST', 'COUNT'].includes(name)).flatMap(
        (aggregation) =>
          GAP_FILLS.filter((fill) => numeric || fill !== 'LINEAR').map((fill) => ({ aggregation, fill })),
      );
      const views = asked.map((how): SeriesView => ({ kind: 'buckets', edges, ...how, rawUpTo: -1 }));
      const request = { deviceKey: 1, fieldKey: 1, fieldType, from, to, maxCharacters: 1e6, views };
      const found = answer(request, segments, all);
      // By time and from value to value each of them counts; of the others summaries say enough.
      const summable = [...views.keys()].filter((i) => !['TIME_AVG', 'DIFFERENCE'].includes(asked[i]!.aggregation));
      const summed = answer({ ...request, views: summable.map((i) => views[i]!) }, segments, all);
      summable.forEach((i, n) => close((summed.views[n] as PointsAnswer).values, [...(found.views[i] as PointsAnswer).values], [fieldType, resolution, asked[i]])); // oxfmt-ignore
      if (numeric) decoded += summed.decoded;
      if (numeric) of += summed.of;
      asked.forEach((how, i) => {
        const expected = naiveBuckets(points, { from, to, resolution, zone, ...how });
        const what = [fieldType, resolution, zone, how.aggregation, how.fill];
        close((found.views[i] as PointsAnswer).timestamps, expected.timestamps, what);
        close((found.views[i] as PointsAnswer).values, expected.values, what);
      });
      const total = all.filter(({ t }) => t >= from && t < to).length;
      expect((found.views[0] as PointsAnswer).total).toBe(total);
      expect(found.before?.timestamp ?? null).toBe(knownBefore ? before.t : null);
    }
  }
  // Otherwise summaries were never put to the test.
  expect(decoded).toBeLessThan(0.8 * of);
});

test('statistics agree with a naive reckoning, and from parts with the whole', () => {
  const random = seededRandom(9);
  for (const [fieldType, next] of KINDS.slice(0, 6)) {
    const all = randomValues(random, next);
    const segments = segmentsOf(random, all);
    const fitting = all.flatMap(({ t, v }): Point[] => {
      const value = fromStoredValue({ type: fieldType }, v);
      return value === null ? [] : [{ t, v: Number(value) }];
    });
    for (let round = 0; round < 20; round++) {
      const from = START + Math.floor(random() * 15 * DAY);
      const to = from + 1 + Math.floor(random() ** 3 * 10 * DAY);
      const before = all.findLast(({ t }) => t < from);
      const knownBefore = before !== undefined && fromStoredValue({ type: fieldType }, before.v) !== null;
      const points = knownBefore ? fitting : fitting.filter(({ t }) => t >= from);
      const range = { deviceKey: 1, fieldKey: 1, fieldType, from, to, maxCharacters: 0 };
      const { views } = answer({ ...range, views: [{ kind: 'statistics' }] }, segments, all);
      const { first, last, ...found } = views[0] as StatisticsAnswer;
      const { first: a, last: b, falls, ...expected } = naiveStatistics(points, from, to) as Record<string, any>;
      expect([first?.timestamp, first?.value, last?.timestamp, last?.value]).toEqual([a?.t, a?.v, b?.t, b?.v]);
      expect(found.falls).toEqual(falls ?? null);
      for (const [name, value] of Object.entries(expected)) close([(found as any)[name]], [value], [name]);
    }
  }
});

test('what does not fit is downsampled so that first, last, smallest and largest of every stretch stay', () => {
  const random = seededRandom(10);
  const all = randomValues(random, (r) => Math.round(r() * 1e4) / 100);
  const segments = segmentsOf(random, all);
  const valueAt = new Map(all.map(({ t, v }) => [t, v]));
  for (const maxPoints of [1, 2, 3, 4, 10, 100, 500, 1499, 1500, 5000]) {
    const [from, to] = [START, START + 100 * DAY];
    const request: SeriesRequest = { deviceKey: 1, fieldKey: 1, fieldType: 'FLOAT', from, to, maxCharacters: 0, views: [{ kind: 'shape', maxPoints }] }; // oxfmt-ignore
    const { timestamps, values } = answer(request, segments, all).views[0] as PointsAnswer;
    expect(timestamps.length).toBeLessThanOrEqual(maxPoints);
    expect(timestamps.length).toBeGreaterThan(Math.min(maxPoints, 1500) / 3);
    expect(timestamps.toSorted()).toEqual(timestamps);
    const shown = Array.from(timestamps, (t, i) => ({ t, v: values[i] }));
    expect(shown.filter(({ t, v }) => !valueAt.has(t) || valueAt.get(t) !== v)).toEqual([]);
    if (maxPoints >= 1500) expect(shown).toEqual(all);
    expect(shown).toContainEqual(all.at(-1));
    if (maxPoints < 4) continue;
    expect(shown).toContainEqual(all[0]);
    const numbers = all.map(({ v }) => v as number);
    expect([Math.min(...(values as number[])), Math.max(...(values as number[]))]).toEqual([Math.min(...numbers), Math.max(...numbers)]); // oxfmt-ignore
  }
});

test('raw values are the oldest so many of the range, and no more segments are decoded than they need', () => {
  const random = seededRandom(11);
  for (const [fieldType, next] of KINDS) {
    const all = randomValues(random, next);
    const segments = segmentsOf(random, all);
    const [from, to] = [START + 2 * DAY, START + 12 * DAY];
    const inside = all.filter(({ t }) => t >= from && t < to);
    for (const limit of [1, 50, inside.length - 1, inside.length, 1e6]) {
      const range = { deviceKey: 1, fieldKey: 1, fieldType, from, to, maxCharacters: 1e6 };
      const found = answer({ ...range, views: [{ kind: 'raw', limit }] }, segments, all);
      const { timestamps, values, total, truncated } = found.views[0] as PointsAnswer;
      expect([total, truncated]).toEqual([inside.length, limit < inside.length]);
      expect([...timestamps]).toEqual(inside.slice(0, limit).map(({ t }) => t));
      const expected = inside.slice(0, limit).map(({ v }) => fromStoredValue({ type: fieldType }, v));
      close(values, expected.map((v) => (typeof v === 'boolean' ? Number(v) : v)), [fieldType, limit]); // oxfmt-ignore
      if (limit === 1) expect(found.decoded).toBeLessThanOrEqual(4);
    }
  }
});

test('a segment that ends on an edge is in two buckets, one that ends before it in one', () => {
  const segment = (lastAt: number): Segment => {
    const timestamps = Float64Array.of(START, lastAt);
    const values = Float64Array.of(1, 2);
    return {
      firstAt: START,
      lastAt,
      count: 2,
      summary: summarize(timestamps, values),
      columns: { timestamps, values },
    };
  };
  const edges = Float64Array.of(START, START + 10, START + 20);
  const view: SeriesView = { kind: 'buckets', edges, aggregation: 'COUNT', fill: 'NULL', rawUpTo: -1 };
  const request: SeriesRequest = { deviceKey: 1, fieldKey: 1, fieldType: 'FLOAT', from: START, to: START + 20, maxCharacters: 0, views: [view] }; // oxfmt-ignore
  for (const [lastAt, decoded, counts] of [
    [START + 9, 0, [2, Number.NaN]],
    [START + 10, 1, [1, 1]],
  ] as const) {
    const found = answer(request, [segment(lastAt)], []);
    expect(found.decoded).toBe(decoded);
    expect([...(found.views[0] as PointsAnswer).values]).toEqual(counts);
  }
  // The end of the range is an edge too: what lies on it is not in it.
  const whole: SeriesRequest = { ...request, views: [{ ...view, edges: Float64Array.of(START, START + 20) }] };
  for (const [lastAt, count] of [
    [START + 19, 2],
    [START + 20, 1],
  ] as const)
    expect([...(answer(whole, [segment(lastAt)], []).views[0] as PointsAnswer).values]).toEqual([count]);
});

test('long texts are cut by what they hold', () => {
  const all = Array.from({ length: 100 }, (_, i) => ({ t: START + i, v: 'x'.repeat(100) }));
  const timestamps = Float64Array.from(all, ({ t }) => t);
  const segment: Segment = { firstAt: START, lastAt: START + 99, count: 100, summary: null, columns: { timestamps, values: all.map(({ v }) => v) } }; // oxfmt-ignore
  const request: SeriesRequest = { deviceKey: 1, fieldKey: 1, fieldType: 'STRING', from: START, to: START + 1000, maxCharacters: 1050, views: [{ kind: 'raw', limit: 50 }] }; // oxfmt-ignore
  const { views } = evaluateSeries(request, [segment], null);
  expect((views[0] as PointsAnswer).values).toHaveLength(10);
  expect(views[0]).toMatchObject({ truncated: true, total: 100 });
});

test('sums beyond float64 are null, not infinite', () => {
  const timestamps = Float64Array.of(START, START + 1, START + 2);
  const values = Float64Array.of(1e308, 1e308, -1e308);
  const segment: Segment = { firstAt: START, lastAt: START + 2, count: 3, summary: summarize(timestamps, values), columns: { timestamps, values } }; // oxfmt-ignore
  const request: SeriesRequest = { deviceKey: 1, fieldKey: 1, fieldType: 'FLOAT', from: START, to: START + 9, maxCharacters: 0, views: [{ kind: 'statistics' }] }; // oxfmt-ignore
  expect(evaluateSeries(request, [segment], null).views[0]).toMatchObject({ count: 3, min: -1e308, max: 1e308, sum: null, average: null }); // oxfmt-ignore
});

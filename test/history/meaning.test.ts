import { expect, test } from 'vitest';
import type { FieldMeaning, FieldType } from '../../src/domain/entities/field.ts';
import { evaluateSeries, needsBeyond, segmentsToDecode } from '../../src/domain/history/evaluate-series.ts';
import { parseResolution } from '../../src/domain/history/resolution.ts';
import { gridEdges } from '../../src/domain/history/time-grid.ts';
import type { Segment } from '../../src/domain/measurements/segment.ts';
import {
  AGGREGATIONS,
  GAP_FILLS,
  type PointsAnswer,
  type SeriesRequest,
  type SeriesView,
  type StatisticsAnswer,
} from '../../src/domain/ports/series-request.ts';
import { summarize } from '../../src/domain/measurements/summarize.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { naiveBuckets, type NaiveMeaning, naiveStatistics } from './naive-history.ts';

const START = Date.parse('2024-03-20T00:00:00Z');
const DAY = 86_400_000;

interface Sample {
  t: number;
  v: number;
}

type Random = () => number;

/** Numbers as such a field sends them: mostly a rising counter with every kind of fall, directions, states. */
const SERIES: {
  meaning: FieldMeaning;
  type: FieldType;
  overflowAt?: number;
  next: (before: number, random: Random) => number;
}[] = [
  { meaning: 'GAUGE', type: 'FLOAT', next: (before, random) => Math.round((before + (random() - 0.4) * 30) * 10) / 10 },
  { meaning: 'GAUGE', type: 'FLOAT', next: rising },
  { meaning: 'COUNTER', type: 'INTEGER', overflowAt: 65_536, next: rising },
  { meaning: 'COUNTER', type: 'FLOAT', next: rising },
  { meaning: 'COUNTER', type: 'FLOAT', next: (_, random) => Math.floor(random() * 5) - 2 },
  { meaning: 'TOTAL', type: 'FLOAT', next: (before, random) => Math.round((before + (random() - 0.5) * 30) * 10) / 10 },
  { meaning: 'ANGLE', type: 'FLOAT', next: (before, random) => Math.floor((before + random() * 40 + 350) % 360) },
  { meaning: 'ANGLE', type: 'FLOAT', next: (_, random) => Math.floor(random() * 360) - 180 },
  { meaning: 'STATE', type: 'FLOAT', next: (_, random) => Math.floor(random() * 100) },
  { meaning: 'STATE', type: 'BOOLEAN', next: (_, random) => (random() < 0.3 ? 1 : 0) },
  { meaning: 'GAUGE', type: 'BOOLEAN', next: (_, random) => (random() < 0.3 ? 1 : 0) },
];

/** Falls that are noise, dips and restarts come one behind the other, and over the ends of segments. */
function rising(before: number, random: Random): number {
  const chance = random();
  if (chance < 0.02) return Math.floor(before * 0.97);
  if (chance < 0.04) return Math.floor(random() * 10);
  if (chance < 0.08) return Math.floor(before * random());
  if (before > 60_000) return random() < 0.5 ? 65_000 : Math.floor(random() * 600);
  return before + (chance < 0.1 ? 30_000 : Math.floor(random() * 400));
}

function samplesOf(random: Random, next: (before: number, random: Random) => number): Sample[] {
  let [t, v] = [START, 100];
  return Array.from({ length: 800 }, () => {
    t += random() < 0.006 ? Math.floor(random() * 3 * DAY) : 1 + Math.floor(random() * 1_800_000);
    v = next(v, random);
    return { t, v };
  });
}

/** A dip returns to what stood before it, now and then. */
function withDips(random: Random, samples: readonly Sample[]): Sample[] {
  return samples.map(({ t, v }, i) => {
    const before = samples[i - 2];
    return before !== undefined && random() < 0.1 ? { t, v: Math.max(v, before.v) } : { t, v };
  });
}

function segmentsOf(random: Random, samples: readonly Sample[]): Segment[] {
  const segments: Segment[] = [];
  for (let at = 0; at < samples.length;) {
    const some = samples.slice(at, (at += 1 + Math.floor(random() ** 3 * 100)));
    const timestamps = Float64Array.from(some, ({ t }) => t);
    const values = Float64Array.from(some, ({ v }) => v);
    const summary = random() < 0.9 ? summarize(timestamps, values) : null;
    segments.push({
      firstAt: some[0]!.t,
      lastAt: some.at(-1)!.t,
      count: some.length,
      summary,
      columns: { timestamps, values },
    });
  }
  return segments;
}

/** As a store does it: only what is asked for is decoded, and the values beyond the range are looked up only if needed. */
function answer(request: SeriesRequest, whole: readonly Segment[], all: readonly Sample[]) {
  const { from, to } = request;
  const segments = whole.filter(({ firstAt, lastAt }) => lastAt >= from && firstAt < to);
  const wanted = new Set(
    segmentsToDecode(
      request,
      segments.map((segment) => ({ ...segment, columns: null })),
    ),
  );
  const given = segments.map((segment, i) => (wanted.has(i) ? segment : { ...segment, columns: null }));
  const moment = (sample: Sample | undefined) =>
    sample === undefined ? null : { timestamp: sample.t, value: sample.v };
  const earlier = all.filter(({ t }) => t < from);
  const next = all.find(({ t }) => t >= to);
  const beyond = needsBeyond(request) ? { earlier: moment(earlier.at(-2)), next: moment(next) } : undefined;
  const before = moment(all.findLast(({ t }) => t < Math.min(from, segments[0]?.firstAt ?? from)));
  return { ...evaluateSeries(request, given, before, beyond), decoded: wanted.size, of: segments.length };
}

function close(found: ArrayLike<unknown>, expected: readonly unknown[], what: unknown[]): void {
  expect([...what, found.length]).toEqual([...what, expected.length]);
  for (let i = 0; i < expected.length; i++) {
    const [a, b] = [found[i], expected[i]];
    const same = typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-8 * Math.max(1e3, Math.abs(b));
    // Directions that just about cancel out, and what is a whole turn apart.
    if (!same && !(b === null && Number.isNaN(a)) && !Object.is(a, b)) expect([...what, i, a]).toEqual([...what, i, b]);
  }
}

test.each(SERIES.map((series, i) => [i, series] as const))(
  'series %i: every aggregation and fill is what a naive reckoning over the plain values gives, decoded or summed up',
  (i, { meaning, type, overflowAt = null, next }) => {
    const random = seededRandom(40 + i);
    let [decoded, of] = [0, 0];
    for (const [resolution, zone] of [
      ['1h', 'Europe/Berlin'],
      ['6h', 'Asia/Kathmandu'],
      ['1d', 'Australia/Sydney'],
      ['20m', 'UTC'],
      ['1w', 'America/New_York'],
    ] as const) {
      const all = withDips(random, samplesOf(random, next));
      const segments = segmentsOf(random, all);
      const from = START + Math.floor(random() * 5 * DAY);
      const to = from + 1 + Math.floor(random() * 7 * DAY);
      const now = random() < 0.5 ? to + DAY : from + Math.floor(random() * (to - from));
      const how: NaiveMeaning = { meaning, overflowAt, now };
      const edges = gridEdges(parseResolution(resolution), zone, from, to, 100_000)!;
      const asked = AGGREGATIONS.filter((name) => meaning !== 'ANGLE' || !['MIN', 'MAX'].includes(name)).flatMap(
        (aggregation) => GAP_FILLS.map((fill) => ({ aggregation, fill })),
      );
      const views = asked.map((one): SeriesView => ({ kind: 'buckets', edges, ...one, rawUpTo: -1, heldTo: now }));
      const place = { deviceKey: 1, fieldKey: 1, fieldType: type, meaning, overflowAt, from, to, maxCharacters: 0 };
      const found = answer({ ...place, views }, segments, all);
      asked.forEach((one, at) => {
        const expected = naiveBuckets(all, { from, to, resolution, zone, ...one, ...how });
        const what = [meaning, type, resolution, one.aggregation, one.fill];
        const { timestamps, values } = found.views[at] as PointsAnswer;
        close(timestamps, expected.timestamps, what);
        close(values, expected.values, what);
      });
      const differences = answer({ ...place, views: [{ ...views[0]!, aggregation: 'DIFFERENCE' } as SeriesView] }, segments, all); // oxfmt-ignore
      decoded += differences.decoded;
      of += differences.of;
      const summed = answer({ ...place, views: [{ kind: 'statistics', heldTo: now }] }, segments, all);
      const { first, last, falls, ...statistics } = summed.views[0] as StatisticsAnswer;
      const {
        first: a,
        last: b,
        falls: fallen,
        ...expected
      } = naiveStatistics(all, from, to, how) as Record<string, any>;
      expect([first?.timestamp, last?.timestamp, falls]).toEqual([a?.t, b?.t, fallen ?? null]);
      for (const [name, value] of Object.entries(expected))
        close([(statistics as any)[name]], [value], [meaning, name]);
    }
    // Otherwise summaries were never put to the test.
    if (meaning === 'COUNTER' || meaning === 'TOTAL') expect(decoded).toBeLessThan(of);
  },
);

test('differences of neighbours add up to the whole, wherever a range begins and ends', () => {
  const random = seededRandom(70);
  for (const { meaning, type, overflowAt = null, next } of SERIES) {
    const all = withDips(random, samplesOf(random, next));
    const segments = segmentsOf(random, all);
    const difference = (from: number, to: number): number => {
      const place = { deviceKey: 1, fieldKey: 1, fieldType: type, meaning, overflowAt, from, to, maxCharacters: 0 };
      const { views } = answer({ ...place, views: [{ kind: 'statistics' }] }, segments, all);
      return (views[0] as StatisticsAnswer).difference ?? 0;
    };
    for (let round = 0; round < 30; round++) {
      // Cut between two values next to each other, as a dip may be there.
      const [a, b, c] = [random(), random(), random()].map((share) => all[Math.floor(share * all.length)]!.t + Math.round(random())).toSorted((x, y) => x - y) as [number, number, number]; // oxfmt-ignore
      if (a === b || b === c) continue;
      expect(difference(a, b) + difference(b, c)).toBeCloseTo(difference(a, c), 5);
    }
  }
});

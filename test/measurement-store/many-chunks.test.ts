import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseResolution } from '../../src/domain/history/resolution.ts';
import { gridEdges } from '../../src/domain/history/time-grid.ts';
import {
  AGGREGATIONS,
  type PointsAnswer,
  type SeriesRequest,
  type SeriesView,
  type StatisticsAnswer,
} from '../../src/domain/ports/series-request.ts';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import { naiveBuckets, naiveStatistics, type Point } from '../history/naive-history.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { partsOf } from '../../src/measurement-store/chunks/codec.ts';
import { DIALECTS, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const VALUES = 15_000;
const FIELDS = [1, 2, 3];

/** Field 1 numbers with a few that are no decimals, 2 texts, 3 whole numbers; the times are uneven. */
const timeOf = (i: number): number => i * 60_000 + (i % 7);
const numberOf = (i: number): number => (i % 500 === 0 ? Math.PI * i : i / 4);
const textOf = (i: number): string => `text ${i % 11}`;

describe.each(DIALECTS)('a range of many chunks in the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
    for (let from = 0; from < VALUES; from += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, i): Row[] => [
        [1, timeOf(from + i), numberOf(from + i)],
        [2, timeOf(from + i), textOf(from + i)],
        [3, timeOf(from + i), from + i],
      ]);
      await store.append(receipt(1, rows.flat()));
    }
    await store.compact([1], Date.now() + 1);
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  test('keeps its shape whether it ends in a chunk, in a block of one, or between two', async () => {
    const minute = 60_000;
    const values = Array.from({ length: 4_000 }, (_, i) => ((i * 7) % 31) / 10);
    for (let at = 0; at < 4_000; at += 1_000) {
      const rows = values.slice(at, at + 1_000).map((value, i): Row => [6, (at + i) * minute, value]);
      await store.append(receipt(4, rows));
      await store.compact([4], Date.now() + 1);
    }
    for (const from of [0, 743 * minute - 2, 1_000 * minute])
      for (const end of [3_255, 3_256, 3_257, 3_512, 3_768, 3_999, 4_000])
        for (const to of [end * minute - 1, end * minute, end * minute + 1])
          for (const maxPoints of [8, 50]) {
            const view = { kind: 'shape', maxPoints } as const;
            const [shape, statistics] = await store.series([
              { ...request(6, view, from), deviceKey: 4, to },
              { ...request(6, { kind: 'statistics' }, from), deviceKey: 4, to },
            ]);
            const { timestamps, values: shown } = shape!.views[0] as PointsAnswer;
            const { first, last, min, max } = statistics!.views[0] as StatisticsAnswer;
            expect([timestamps[0], timestamps.at(-1)]).toEqual([first!.timestamp, last!.timestamp]);
            expect([Math.min(...(shown as number[])), Math.max(...(shown as number[]))]).toEqual([min, max]);
            expect(timestamps.length).toBeLessThanOrEqual(maxPoints);
          }
  });

  test('comes right where only some of the chunks have a summary', async () => {
    const valueOf = (i: number): StoredValue => (i < 3_000 || (i >= 5_000 && i < 7_000) ? textOf(i) : i / 4);
    const rows = Array.from({ length: 12_000 }, (_, i): Row => [5, timeOf(i), valueOf(i)]);
    await store.append(receipt(3, rows));
    await store.compact([3], Date.now() + 1);
    const [answer] = await store.series([{ ...request(5, { kind: 'statistics' }), deviceKey: 3, fieldType: 'FLOAT' }]);
    const numbers = rows.map(([, , value]) => value).filter((value) => typeof value === 'number');
    expect(answer!.views[0]).toMatchObject({
      count: numbers.length,
      min: numbers[0],
      max: numbers.at(-1),
      sum: numbers.reduce((a, b) => a + b),
    });
  });

  const request = (fieldKey: number, view: SeriesView, from = 0): SeriesRequest => ({
    deviceKey: 1,
    fieldKey,
    fieldType: fieldKey === 2 ? 'STRING' : 'FLOAT',
    from,
    to: timeOf(VALUES),
    maxCharacters: 1_000_000,
    views: [view],
  });
  const pointsOf = async (requests: SeriesRequest[]): Promise<{ times: number[]; values: unknown[] }[]> =>
    (await store.series(requests)).map((answer) => {
      const [view] = answer?.views ?? [];
      if (view === undefined || !('timestamps' in view)) throw new Error('no points');
      return { times: [...view.timestamps], values: [...view.values] };
    });

  test('comes whole and right, also beside others and again', async () => {
    const [{ chunks } = { chunks: 0 }] = await database.sql<{ chunks: number }>('SELECT count(*) AS chunks FROM chunk');
    expect(Number(chunks)).toBeGreaterThan(40);
    const indexes = Array.from({ length: VALUES }, (_, i) => i);
    const whole = { kind: 'raw', limit: VALUES } as const;
    const tens = Float64Array.from({ length: VALUES / 10 + 1 }, (_, i) => timeOf(i * 10) - (i % 7 === 0 ? 0 : 7));
    const last = { kind: 'buckets', edges: tens, aggregation: 'LAST', fill: 'NONE', rawUpTo: 0 } as const;
    const ask = (): Promise<{ times: number[]; values: unknown[] }[]> =>
      pointsOf([...FIELDS.map((field) => request(field, whole)), request(1, last), request(1, whole, timeOf(7_777))]);
    for (const [numbers, texts, integers, buckets, half] of [await ask(), ...(await Promise.all([ask(), ask()]))]) {
      expect(numbers).toEqual({ times: indexes.map(timeOf), values: indexes.map(numberOf) });
      expect(texts).toEqual({ times: indexes.map(timeOf), values: indexes.map(textOf) });
      expect(integers!.values).toEqual(indexes);
      expect(buckets!.values).toEqual(indexes.filter((i) => i % 10 === 9).map(numberOf));
      expect(half!.values).toEqual(indexes.slice(7_777).map(numberOf));
    }
  });

  test('comes right where a chart decodes only what lies across the edges of its buckets', async () => {
    const random = seededRandom(3);
    const points = Array.from({ length: 3_000 }, (_, i) => ({
      t: i * 60_000 + Math.floor(random() * 50) * 100,
      v: Math.round(random() * 5_000 - 2_000) / 100,
    }));
    await store.append(
      receipt(
        2,
        points.map(({ t, v }): Row => [4, t, v]),
      ),
    );
    await store.compact([2], Date.now() + 1);
    const chunks = await database.sql<{ packed: Buffer }>('SELECT packed FROM chunk WHERE device_key = 2');
    const head = { firstAt: 0, lastAt: 0, count: 0, summary: null };
    const blocks = chunks.flatMap(({ packed }) => partsOf(head, packed)).filter(({ count }) => count > 0);
    expect(blocks.length).toBeGreaterThan(chunks.length + 5);
    const placeOf = (): number => {
      const at = Math.floor(random() * 3_000);
      const begin = random() < 0.7 ? blocks[at % blocks.length]!.firstAt : points[at]!.t;
      return begin + Math.floor(random() * 3) - 1;
    };
    const resolution = '6h';
    for (let round = 0; round < 60; round++) {
      const [from, to] = [placeOf(), placeOf() + 1].toSorted((a, b) => a - b) as [number, number];
      const edges = gridEdges(parseResolution(resolution), 'UTC', from, to, 1_000)!;
      const views = AGGREGATIONS.map((aggregation): SeriesView => ({ kind: 'buckets', edges, aggregation, fill: 'PREVIOUS', rawUpTo: -1 })); // oxfmt-ignore
      const asked = { deviceKey: 2, fieldKey: 4, fieldType: 'FLOAT', from, to, maxCharacters: 1, views } as const;
      const [answer] = await store.series([{ ...asked, views: [...views, { kind: 'statistics' }] }]);
      AGGREGATIONS.forEach((aggregation, i) => {
        const found = answer!.views[i] as PointsAnswer;
        const wanted = naiveBuckets(points, { from, to, resolution, zone: 'UTC', aggregation, fill: 'PREVIOUS' });
        expect([...found.timestamps]).toEqual(wanted.timestamps);
        expect(Array.from(found.values, (value) => (Number.isNaN(value) ? null : value))).toEqual(wanted.values.map(nearly)); // oxfmt-ignore
      });
      const { first, last, ...numbers } = naiveStatistics(points, from, to);
      expect(answer!.views.at(-1)).toMatchObject(
        Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, nearly(value)])),
      );
      expect(answer!.views.at(-1)).toMatchObject({ first: moment(first as Point), last: moment(last as Point) });
      expect(answer!.before).toEqual(moment(points.findLast(({ t }) => t < from)));
    }
  });
});

const nearly = (value: unknown): unknown => (typeof value === 'number' ? expect.closeTo(value, 6) : value);
const moment = (point: Point | undefined): unknown => (point ? { timestamp: point.t, value: point.v } : null);

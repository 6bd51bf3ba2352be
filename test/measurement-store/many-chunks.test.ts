import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SeriesRequest, SeriesView } from '../../src/domain/measurements/series-request.ts';
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
  beforeEach(async () => {
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
  afterEach(async () => {
    await store.stop();
    await database.close();
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
    (await store.series(requests)).map(({ views: [view] }) => {
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
});

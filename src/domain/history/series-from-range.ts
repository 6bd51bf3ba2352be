import type { Segment } from '../measurements/segment.ts';
import type { Moment, SeriesAnswer, SeriesRequest } from '../measurements/series-request.ts';
import type { RangeQuery, StoredValue } from '../measurements/store.ts';
import { evaluateSeries } from './evaluate-series.ts';

interface Ranges {
  range(query: RangeQuery): Promise<{ timestamps: ArrayLike<number>; values: ArrayLike<StoredValue> }>;
}

/** Answers the requests from raw ranges, one segment each: for a store that has no chunks. */
export async function seriesFromRange(store: Ranges, requests: readonly SeriesRequest[]): Promise<SeriesAnswer[]> {
  const answers: SeriesAnswer[] = [];
  for (const request of requests) {
    const { deviceKey, fieldKey, from, to } = request;
    const found = await store.range({ deviceKey, fieldKey, from, to, newestFirst: false, limit: 10_000_000 });
    const earlier = await store.range({ deviceKey, fieldKey, to: from, newestFirst: true, limit: 1 });
    const before: Moment | null =
      earlier.timestamps.length === 0 ? null : { timestamp: earlier.timestamps[0]!, value: earlier.values[0]! };
    answers.push(evaluateSeries(request, asSegments(found.timestamps, found.values), before));
  }
  return answers;
}

function asSegments(times: ArrayLike<number>, stored: ArrayLike<StoredValue>): Segment[] {
  const count = times.length;
  if (count === 0) return [];
  const timestamps = Float64Array.from(times);
  const values = Array.from(stored);
  const numbers = values.every((value) => typeof value === 'number') ? Float64Array.from(values) : values;
  return [
    {
      firstAt: timestamps[0]!,
      lastAt: timestamps[count - 1]!,
      count,
      summary: null,
      columns: { timestamps, values: numbers },
    },
  ];
}

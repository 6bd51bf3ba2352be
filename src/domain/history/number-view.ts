import type { Moment, SeriesView, StatisticsAnswer, ViewAnswer } from '../measurements/series-request.ts';
import { aggregated, tallyBuckets } from './bucket-numbers.ts';
import { fillGaps } from './fill-gaps.ts';
import { shapeEdges, shapeOf } from './keep-shape.ts';
import { type RangeOfValues, rawView, totalOf } from './raw-view.ts';
import { onlyFitting } from './stretch.ts';
import { averageOf, differenceOf, sumOf, type Tally } from './tally.ts';

/** A value before the range cannot stand for these of an empty first bucket. */
const NOT_A_VALUE: ReadonlySet<string> = new Set(['SUM', 'COUNT', 'DIFFERENCE']);

/** The views of a number or boolean field (1 and 0); views with the same edges share the work. */
export function numberView(range: RangeOfValues, views: readonly SeriesView[]): ViewAnswer[] {
  const total = totalOf(range);
  const before = typeof range.before?.value === 'number' ? range.before.value : Number.NaN;
  const fitting = range.stretches.map(onlyFitting).filter((stretch) => stretch !== null);
  const known = new Map<Float64Array, (Tally | null)[]>();
  const tallies = (edges: Float64Array): (Tally | null)[] => {
    const found = known.get(edges) ?? tallyBuckets(fitting, edges, before);
    known.set(edges, found);
    return found;
  };
  return views.map((view): ViewAnswer => {
    switch (view.kind) {
      case 'raw':
        return rawView(range, view.limit);
      case 'shape': {
        const { maxPoints } = view;
        if (total <= maxPoints) return rawView(range, total);
        const edges = shapeEdges(range.extent, maxPoints);
        return { ...shapeOf(tallies(edges), maxPoints), bucketed: false, total, truncated: false };
      }
      case 'buckets': {
        if (total <= view.rawUpTo) return rawView(range, total);
        const { edges, aggregation, fill } = view;
        const found = tallies(edges).map((tally) => (tally === null ? undefined : aggregated(tally, aggregation)));
        const start = NOT_A_VALUE.has(aggregation) ? Number.NaN : before;
        const { timestamps, values } = fillGaps(edges, found, fill, Number.NaN, start);
        return { timestamps, values: Float64Array.from(values), bucketed: true, total, truncated: false };
      }
      case 'statistics':
        return statisticsOf(tallies(Float64Array.of(range.from, range.to))[0] ?? null);
    }
  });
}

function statisticsOf(tally: Tally | null): StatisticsAnswer {
  if (tally === null) return NO_STATISTICS;
  const { count, min, minAt, max, maxAt } = tally;
  const first: Moment = { timestamp: tally.firstAt, value: tally.first };
  const last: Moment = { timestamp: tally.lastAt, value: tally.last };
  const [average, sum, difference] = [averageOf(tally), sumOf(tally), differenceOf(tally)];
  return { count, min, minAt, max, maxAt, average, sum, first, last, difference };
}

/** Of a range in which nothing was measured. */
export const NO_STATISTICS: StatisticsAnswer = {
  count: 0,
  min: null,
  minAt: null,
  max: null,
  maxAt: null,
  average: null,
  sum: null,
  first: null,
  last: null,
  difference: null,
};

import type { Moment, PointsAnswer, SeriesView, StatisticsAnswer, ViewAnswer } from '../ports/series-request.ts';
import { fillGaps } from './fill-gaps.ts';
import { NO_STATISTICS } from './number-view.ts';
import { type RangeOfValues, rawView, totalOf } from './raw-view.ts';
import { onlyFitting } from './value-span.ts';
import { must } from '../../must.ts';

/** Count and ends of the texts of one bucket. */
interface TextTally {
  count: number;
  first: Moment;
  last: Moment;
}

type BucketsView = Extract<SeriesView, { kind: 'buckets' }>;

/** The views of a field of texts or places, whose buckets have FIRST, LAST and COUNT only. */
export function textView(range: RangeOfValues, views: readonly SeriesView[]): ViewAnswer[] {
  const total = totalOf(range);
  return views.map((view): ViewAnswer => {
    switch (view.kind) {
      case 'raw':
        return cut(rawView(range, view.limit), range.maxCharacters);
      case 'statistics':
        return statisticsOf(tallyTexts(range, Float64Array.of(range.from, range.to))[0]);
      case 'buckets':
        return cut(total <= view.rawUpTo ? rawView(range, total) : buckets(range, view, total), range.maxCharacters);
      case 'shape':
        throw new Error('texts have no shape');
    }
  });
}

function buckets(range: RangeOfValues, view: BucketsView, total: number): PointsAnswer {
  const { edges, fill } = view;
  const rest = { bucketed: true, total, truncated: false };
  const tallies = tallyTexts(range, edges);
  if (view.aggregation === 'COUNT') {
    const counts = tallies.map((tally) => tally?.count);
    const { timestamps, values } = fillGaps(edges, counts, fill, { nothing: Number.NaN, before: Number.NaN });
    return { timestamps, values: Float64Array.from(values), ...rest };
  }
  const shown = tallies.map((tally) => (view.aggregation === 'FIRST' ? tally?.first.value : tally?.last.value));
  const filling = { nothing: null, before: range.before?.value ?? null };
  return { ...fillGaps<string | number | null>(edges, shown, fill, filling), ...rest };
}

/** Cuts texts by their characters instead of their number. */
function cut(points: PointsAnswer, maxCharacters: number): PointsAnswer {
  let left = maxCharacters;
  const fits = points.values.findIndex((value: unknown) => typeof value === 'string' && (left -= value.length) < 0);
  if (fits < 0) return points;
  return {
    ...points,
    timestamps: points.timestamps.slice(0, fits),
    values: points.values.slice(0, fits),
    truncated: true,
  };
}

function tallyTexts({ stretches }: RangeOfValues, edges: Float64Array): (TextTally | undefined)[] {
  const tallies: (TextTally | undefined)[] = Array.from({ length: edges.length - 1 }, () => undefined);
  let bucket = 0;
  for (const stretch of stretches) {
    const { timestamps, values } = onlyFitting(stretch) ?? { timestamps: [], values: [] };
    for (let i = 0; i < timestamps.length; i++) {
      const moment: Moment = { timestamp: must(timestamps[i]), value: values[i]! };
      while (moment.timestamp >= must(edges[bucket + 1])) bucket++;
      const tally = (tallies[bucket] ??= { count: 0, first: moment, last: moment });
      tally.count++;
      tally.last = moment;
    }
  }
  return tallies;
}

function statisticsOf(tally: TextTally | undefined): StatisticsAnswer {
  return { ...NO_STATISTICS, ...tally };
}

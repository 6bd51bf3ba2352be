import type { FieldMeaning } from '../entities/field.ts';
import type {
  Aggregation,
  Moment,
  PointsAnswer,
  SeriesView,
  StatisticsAnswer,
  ViewAnswer,
} from '../ports/series-request.ts';
import { asDirection, turnOf } from './directions.ts';
import { fillGaps } from './fill-gaps.ts';
import { shapeEdges, shapeOf } from './keep-shape.ts';
import { measureOf } from './measure.ts';
import { NumbersOfRange, type RangeOfNumbers } from './numbers-of-range.ts';
import { rawView, totalOf } from './raw-view.ts';
import { averageOf, finiteOrNull, sumOf, type Tally } from './tally.ts';
import { differenceOf, fallsOf } from './tally-steps.ts';
import { heldSum, type Weighed, weighedMean } from './weigh-values.ts';
import { must } from '../../must.ts';

/** Aggregations for which a value before the range cannot fill an empty first bucket. */
const NOT_A_VALUE: ReadonlySet<string> = new Set(['SUM', 'COUNT', 'DIFFERENCE']);

type BucketsView = Extract<SeriesView, { kind: 'buckets' }>;
type StatisticsView = Extract<SeriesView, { kind: 'statistics' }>;

/** The views of a number or boolean field (1 and 0); views with the same edges share the work. */
export function numberView(range: RangeOfNumbers, views: readonly SeriesView[]): ViewAnswer[] {
  const total = totalOf(range);
  const numbers = new NumbersOfRange(range);
  return views.map((view): ViewAnswer => {
    switch (view.kind) {
      case 'raw':
        return rawView(range, view.limit);
      case 'shape': {
        const { maxPoints } = view;
        if (total <= maxPoints) return rawView(range, total);
        const edges = shapeEdges(range.extent, maxPoints);
        return { ...shapeOf(numbers.tallies(edges), maxPoints), bucketed: false, total, truncated: false };
      }
      case 'buckets':
        return total <= view.rawUpTo ? rawView(range, total) : bucketsOf(numbers, view, range.meaning, total);
      case 'statistics':
        return statisticsOf(numbers, view, range);
    }
  });
}

function bucketsOf(numbers: NumbersOfRange, view: BucketsView, meaning: FieldMeaning, total: number): PointsAnswer {
  const { edges, aggregation, fill } = view;
  const found = aggregated(numbers, view, meaning);
  const start = NOT_A_VALUE.has(aggregation) ? Number.NaN : numbers.before;
  const isDirection = meaning === 'ANGLE' && aggregation !== 'COUNT' && !NOT_A_VALUE.has(aggregation);
  const between = isDirection ? turned : undefined;
  const { timestamps, values } = fillGaps(edges, found, fill, { nothing: Number.NaN, before: start, between });
  return { timestamps, values: Float64Array.from(values), bucketed: true, total, truncated: false };
}

/** The aggregation of each bucket; NaN beyond float64, undefined when nothing was measured and nothing holds. */
function aggregated(
  numbers: NumbersOfRange,
  { edges, aggregation, heldTo = Infinity }: BucketsView,
  meaning: FieldMeaning,
): (number | undefined)[] {
  const isAngle = meaning === 'ANGLE';
  switch (measureOf(aggregation, meaning)) {
    case 'steps':
      return numbers.steps(edges).map((steps) => (steps === null ? undefined : (differenceOf(steps) ?? Number.NaN)));
    case 'held': {
      const shown = (weighed: Weighed) => (aggregation === 'SUM' ? heldSum(weighed) : weighedMean(weighed, isAngle));
      return numbers.held(edges, heldTo).map((weighed) => (weighed === null ? undefined : shown(weighed)));
    }
    case 'directions':
      return numbers.directions(edges).map((weighed) => (weighed === null ? undefined : weighedMean(weighed, true)));
    case 'numbers':
      return numbers.tallies(edges).map((tally) => (tally === null ? undefined : ofTally(tally, aggregation)));
  }
}

function ofTally(tally: Tally, aggregation: Aggregation): number {
  switch (aggregation) {
    case 'AVG':
      return averageOf(tally) ?? Number.NaN;
    case 'MIN':
      return tally.min;
    case 'MAX':
      return tally.max;
    case 'SUM':
      return sumOf(tally) ?? Number.NaN;
    case 'COUNT':
      return tally.count;
    case 'FIRST':
      return tally.first;
    case 'LAST':
      return tally.last;
    default:
      throw new Error(`${aggregation} is none of a tally`);
  }
}

/** The direction at a fraction of the shorter turn from one to another. */
function turned(from: number, to: number, share: number): number {
  return asDirection(from + turnOf(from, to) * share);
}

function statisticsOf(
  numbers: NumbersOfRange,
  { steps: withSteps = true, heldTo = Infinity }: StatisticsView,
  { from, to, meaning }: RangeOfNumbers,
): StatisticsAnswer {
  const edges = Float64Array.of(from, to);
  const held = meaning === 'STATE' ? (numbers.held(edges, heldTo)[0] ?? null) : null;
  const ofHeld =
    held === null ? {} : { average: finiteOrNull(weighedMean(held, false)), sum: finiteOrNull(heldSum(held)) };
  const tally = numbers.tallies(edges)[0];
  if (tally == null) return { ...NO_STATISTICS, ...ofHeld };
  const { count, min, minAt, max, maxAt } = tally;
  const first: Moment = { timestamp: tally.firstAt, value: tally.first };
  const last: Moment = { timestamp: tally.lastAt, value: tally.last };
  const steps = withSteps ? (numbers.steps(edges)[0] ?? null) : null;
  const fallsAreJudged = meaning === 'GAUGE' || meaning === 'COUNTER';
  const plain: StatisticsAnswer = {
    count,
    min,
    minAt,
    max,
    maxAt,
    average: averageOf(tally),
    sum: sumOf(tally),
    first,
    last,
    difference: steps && differenceOf(steps),
    falls: steps && fallsAreJudged ? fallsOf(steps) : null,
  };
  if (meaning !== 'ANGLE') return { ...plain, ...ofHeld };
  const average = finiteOrNull(weighedMean(must(numbers.directions(edges)[0]), true));
  return { ...plain, average, min: null, minAt: null, max: null, maxAt: null };
}

/** Statistics of a range without values. */
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
  falls: null,
};

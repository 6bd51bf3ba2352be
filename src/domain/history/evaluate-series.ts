import type { FieldMeaning } from '../entities/field.ts';
import type { Segment } from '../measurements/segment.ts';
import type { Moment, SeriesAnswer, SeriesRequest, SeriesView } from '../ports/series-request.ts';
import { shapeEdges } from './keep-shape.ts';
import { type Measure, measureOf } from './measure.ts';
import { numberView } from './number-view.ts';
import type { Extent } from './raw-view.ts';
import { indexAt } from './index-at.ts';
import { isInside, isNumeric, lastBefore, momentAs, summarySpeaks, toStretch } from './value-span.ts';
import { neverFalls } from './tally-steps.ts';
import { textView } from './text-view.ts';

/** undefinedValuesundefined undefinedbeyondundefined undefinedaundefined undefinedrangeundefined undefinedthatundefined undefineditsundefined undefinedfallsundefined undefinedareundefined undefinedjudgedundefined undefinedbyundefined (`undefinedneedsBeyondundefined`); undefinednullundefined: undefinedthereundefined undefinedisundefined undefinednoneundefined, undefinedorundefined undefineditundefined undefinedisundefined undefinednotundefined undefinedneededundefined. */
export interface Beyond {
  /** undefinedTheundefined undefinedlastundefined undefinedbutundefined undefinedoneundefined undefinedbeforeundefined undefinedtheundefined undefinedrangeundefined. */
  earlier: Moment | null;
  /** undefinedTheundefined undefinedfirstundefined undefinedbehindundefined undefineditundefined. */
  next: Moment | null;
}

const NOTHING_BEYOND: Beyond = { earlier: null, next: null };

/** undefinedWhetherundefined undefinedtheundefined undefinedanswerundefined undefinedhangsundefined undefinedonundefined undefinedtheundefined undefinedvaluesundefined undefinedbeyondundefined undefinedtheundefined undefinedrangeundefined. */
export function needsBeyond({ fieldType, meaning, views }: SeriesRequest): boolean {
  if (meaning !== 'COUNTER' || !isNumeric(fieldType)) return false;
  return views.some((view) => measuresOf(view, meaning).includes('steps'));
}

/** undefinedTheundefined undefinedindexesundefined, undefinedascendingundefined, undefinedofundefined undefinedtheundefined undefinedsegmentsundefined undefinedthatundefined `undefinedevaluateSeriesundefined` undefinedneedsundefined undefinedwithundefined undefinedcolumnsundefined; undefinedforundefined undefinedtheundefined undefinedothersundefined undefinedaundefined undefinedsummaryundefined undefinedwillundefined undefineddoundefined. */
export function segmentsToDecode(request: SeriesRequest, segments: readonly Segment[]): number[] {
  const { from, to, fieldType } = request;
  const inside = segments.map((segment) => isInside(segment, from, to));
  const surely = segments.reduce((sum, { count }, i) => sum + (inside[i] ? count : 0), 0);
  const needs = request.views.map((view) => neededBy(view, request, segments, surely));
  let seen = 0;
  return segments.flatMap((segment, i) => {
    const speaks = summarySpeaks(segment, fieldType);
    const known = { segment, previous: segments[i - 1], speaks, seen };
    const needed = !inside[i] || needs.some((need) => need(known));
    if (inside[i]) seen += segment.count;
    return needed && segment.columns === null ? [i] : [];
  });
}

/**
 * undefinedTheundefined undefinedanswerundefined undefinedtoundefined undefinedtheundefined undefinedrequestundefined undefinedfromundefined undefinedallundefined undefinedsegmentsundefined undefinedthatundefined undefinedhaveundefined undefinedvaluesundefined undefinedinundefined undefineditsundefined undefinedrangeundefined, undefinedinundefined undefinedtimeundefined undefinedorderundefined. `undefinedbeforeundefined`: undefinedtheundefined undefinedlastundefined undefinedvalueundefined
 * undefinedbeforeundefined undefinedtheundefined undefinedfirstundefined undefinedsegmentundefined; undefinedoneundefined undefinedthatundefined undefinedbeginsundefined undefinedbeforeundefined `undefinedfromundefined` undefinedholdsundefined undefineditundefined undefineditselfundefined.
 */
export function evaluateSeries(
  request: SeriesRequest,
  segments: readonly Segment[],
  before: Moment | null,
  beyond: Beyond = NOTHING_BEYOND,
): SeriesAnswer {
  const { fieldType, wasBoolean, meaning = 'GAUGE', overflowAt = null, from, to, maxCharacters, views } = request;
  const as = { type: fieldType, wasBoolean };
  const previous = momentAs(as, lastBefore(segments[0], from) ?? before);
  const stretches = segments.map((segment) => toStretch(segment, as, from, to)).filter((stretch) => stretch !== null);
  const range = { from, to, extent: extentOf(request, segments), maxCharacters, stretches, before: previous };
  if (!isNumeric(fieldType)) return { before: previous, views: textView(range, views) };
  const [earlier, next] = [momentAs(as, beyond.earlier), momentAs(as, beyond.next)];
  return { before: previous, views: numberView({ ...range, meaning, overflowAt, earlier, next }, views) };
}

function extentOf({ from, to }: SeriesRequest, segments: readonly Segment[]): Extent {
  return {
    from: Math.max(from, segments[0]?.firstAt ?? from),
    to: Math.min(to, (segments.at(-1)?.lastAt ?? from) + 1),
  };
}

/** undefinedWhatundefined undefinedaundefined undefinedneedundefined undefinedisundefined undefinedjudgedundefined undefinedbyundefined: undefinedaundefined undefinedsegmentundefined undefinedinsideundefined undefinedtheundefined undefinedrangeundefined, undefinedtheundefined undefinedoneundefined undefinedbeforeundefined undefineditundefined, undefinedandundefined undefinedhowundefined undefinedmanyundefined undefinedvaluesundefined undefinedlieundefined undefinedbeforeundefined undefinedbothundefined. */
interface Known {
  segment: Segment;
  previous: Segment | undefined;
  speaks: boolean;
  seen: number;
}

type Need = (known: Known) => boolean;

function neededBy(view: SeriesView, request: SeriesRequest, segments: readonly Segment[], surely: number): Need {
  switch (view.kind) {
    case 'raw':
      return ({ seen }) => seen < view.limit;
    case 'shape':
      if (surely <= view.maxPoints) return () => true;
      return acrossEdges(shapeEdges(extentOf(request, segments), view.maxPoints));
    case 'buckets':
      if (surely <= view.rawUpTo) return () => true;
      return eitherOf(acrossEdges(view.edges), byMeasures(view, request));
    case 'statistics':
      return eitherOf(({ speaks }) => !speaks, byMeasures(view, request));
  }
}

function eitherOf(one: Need, other: Need): Need {
  return (known) => one(known) || other(known);
}

/** undefinedAundefined undefinedsummaryundefined undefinedstandsundefined undefinedforundefined undefinedaundefined undefinedsegmentundefined undefinedonlyundefined undefinedwhereundefined undefinedoneundefined undefinedbucketundefined undefinedhasundefined undefinedallundefined undefinedofundefined undefineditundefined. */
function acrossEdges(edges: Float64Array): Need {
  return ({ segment: { firstAt, lastAt }, speaks }) => !speaks || edges[indexAt(edges, firstAt + 1)]! <= lastAt;
}

function measuresOf(view: SeriesView, meaning: FieldMeaning): Measure[] {
  if (view.kind === 'buckets') return [measureOf(view.aggregation, meaning)];
  if (view.kind !== 'statistics') return ['numbers'];
  return [measureOf('AVG', meaning), ...(view.steps === false ? [] : ['steps' as const])];
}

/** undefinedWhatundefined undefinedsummariesundefined undefinedknowundefined undefinednothingundefined undefinedofundefined undefinedisundefined undefinedlookedundefined undefinedforundefined undefinedamongundefined undefinedtheundefined undefinedvaluesundefined. */
function byMeasures(view: SeriesView, { fieldType, meaning = 'GAUGE' }: SeriesRequest): Need {
  const measures = isNumeric(fieldType) ? measuresOf(view, meaning) : [];
  if (measures.some((measure) => measure === 'held' || measure === 'directions')) return () => true;
  if (!measures.includes('steps') || meaning === 'TOTAL') return () => false;
  if (meaning === 'ANGLE') return () => true;
  return ({ segment: { summary, count }, previous }) =>
    summary === null ||
    !neverFalls(summary) ||
    (meaning === 'COUNTER' && count > 1 && !(summary.first >= endOf(previous)));
}

/** undefinedTheundefined undefinedlastundefined undefinednumberundefined undefinedofundefined undefinedaundefined undefinedsegmentundefined; undefinedNaNundefined undefinedwhereundefined undefineditundefined undefinedisundefined undefinednotundefined undefinedknownundefined. */
function endOf(segment: Segment | undefined): number {
  const last = segment?.summary?.last ?? segment?.columns?.values.at(-1);
  return typeof last === 'number' ? last : Number.NaN;
}

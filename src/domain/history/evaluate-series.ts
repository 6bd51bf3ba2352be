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
import { must } from '../../must.ts';

/** Values beyond a range that decide its first and last falls (`needsBeyond`); null: none, or not needed. */
export interface Beyond {
  /** The last value but one before the range. */
  earlier: Moment | null;
  /** The first value after the range. */
  next: Moment | null;
}

const NOTHING_BEYOND: Beyond = { earlier: null, next: null };

/** True when the answer depends on the values beyond the range. */
export function needsBeyond({ fieldType, meaning, views }: SeriesRequest): boolean {
  if (meaning !== 'COUNTER' || !isNumeric(fieldType)) return false;
  return views.some((view) => measuresOf(view, meaning).includes('steps'));
}

/**
 * The indexes, ascending, of the segments that `evaluateSeries` needs with columns; for the others a summary suffices.
 */
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
 * The answer to the request from all segments that have values in its range, in time order. `before`: the last value
 * before the first segment, unless that begins before `from` and so holds it.
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

/**
 * Facts that decide whether a segment inside the range is needed: itself, the one before it, and the number of values
 * before both.
 */
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

/** Segments that a summary cannot replace, as they cross an edge of a bucket. */
function acrossEdges(edges: Float64Array): Need {
  return ({ segment: { firstAt, lastAt }, speaks }) => !speaks || must(edges[indexAt(edges, firstAt + 1)]) <= lastAt;
}

function measuresOf(view: SeriesView, meaning: FieldMeaning): Measure[] {
  if (view.kind === 'buckets') return [measureOf(view.aggregation, meaning)];
  if (view.kind !== 'statistics') return ['numbers'];
  return [measureOf('AVG', meaning), ...(view.steps === false ? [] : ['steps' as const])];
}

/** Segments that a summary cannot replace, as it lacks the measures. */
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

/** The last number of a segment; NaN if unknown. */
function endOf(segment: Segment | undefined): number {
  const last = segment?.summary?.last ?? segment?.columns?.values.at(-1);
  return typeof last === 'number' ? last : Number.NaN;
}

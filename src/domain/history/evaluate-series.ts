import type { Segment } from '../measurements/segment.ts';
import type { Moment, SeriesAnswer, SeriesRequest, SeriesView } from '../measurements/series-request.ts';
import { shapeEdges } from './keep-shape.ts';
import { numberView } from './number-view.ts';
import type { Extent } from './raw-view.ts';
import { indexAt } from './index-at.ts';
import { isInside, isNumeric, lastBefore, momentAs, summarySpeaks, toStretch } from './stretch.ts';
import { textView } from './text-view.ts';

/** The indexes, ascending, of the segments that `evaluateSeries` needs with columns; for the others a summary will do. */
export function segmentsToDecode(request: SeriesRequest, segments: readonly Segment[]): number[] {
  const { from, to, fieldType } = request;
  const inside = segments.map((segment) => isInside(segment, from, to));
  const surely = segments.reduce((sum, { count }, i) => sum + (inside[i] ? count : 0), 0);
  const needs = request.views.map((view) => neededBy(view, request, segments, surely));
  let seen = 0;
  return segments.flatMap((segment, i) => {
    const speaks = summarySpeaks(segment, fieldType);
    const needed = !inside[i] || needs.some((need) => need(segment, speaks, seen));
    if (inside[i]) seen += segment.count;
    return needed && segment.columns === null ? [i] : [];
  });
}

/**
 * The answer to the request from all segments that have values in its range, in time order. `before`: the last value
 * before the first segment; one that begins before `from` holds it itself.
 */
export function evaluateSeries(
  request: SeriesRequest,
  segments: readonly Segment[],
  before: Moment | null,
): SeriesAnswer {
  const { fieldType, from, to, maxCharacters, views } = request;
  const previous = momentAs(fieldType, lastBefore(segments[0], from) ?? before);
  const stretches = segments
    .map((segment) => toStretch(segment, fieldType, from, to))
    .filter((stretch) => stretch !== null);
  const view = isNumeric(fieldType) ? numberView : textView;
  const extent = extentOf(request, segments);
  return { before: previous, views: view({ from, to, extent, maxCharacters, stretches, before: previous }, views) };
}

function extentOf({ from, to }: SeriesRequest, segments: readonly Segment[]): Extent {
  return {
    from: Math.max(from, segments[0]?.firstAt ?? from),
    to: Math.min(to, (segments.at(-1)?.lastAt ?? from) + 1),
  };
}

type Need = (segment: Segment, speaks: boolean, seen: number) => boolean;

function neededBy(view: SeriesView, request: SeriesRequest, segments: readonly Segment[], surely: number): Need {
  switch (view.kind) {
    case 'raw':
      return (_segment, _speaks, seen) => seen < view.limit;
    case 'statistics':
      return (_segment, speaks) => !speaks;
    case 'shape':
      if (surely <= view.maxPoints) return () => true;
      return acrossEdges(shapeEdges(extentOf(request, segments), view.maxPoints));
    case 'buckets':
      if (surely <= view.rawUpTo) return () => true;
      return acrossEdges(view.edges);
  }
}

/** A summary stands for a segment only where one bucket has all of it. */
function acrossEdges(edges: Float64Array): Need {
  return ({ firstAt, lastAt }, speaks) => !speaks || edges[indexAt(edges, firstAt + 1)]! <= lastAt;
}

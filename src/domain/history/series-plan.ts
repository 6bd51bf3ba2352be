import { badInput } from '../../errors.ts';
import type { FieldType } from '../entities/field.ts';
import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import type { Aggregation, GapFill, SeriesView } from '../ports/series-request.ts';
import { LADDER, parseResolution } from './resolution.ts';
import { isNumeric } from './value-span.ts';
import { gridEdges, learnZone } from './time-grid.ts';
import { ZoneOffsets } from '../times/zone-offsets.ts';

/** Maximum points of all series of one `history`. */
export const MAX_POINTS = 200_000;

/** The input of a history (CONTRACT 7); null or left out: the defaults there. */
export interface SeriesQuery {
  /** Identifiers; left out: every field of the product. */
  fields?: readonly string[] | null | undefined;
  /** Milliseconds; start inclusive, end exclusive. */
  from: number;
  to: number;
  resolution?: string | null | undefined;
  maxPoints?: number | null | undefined;
  aggregation?: Aggregation | null | undefined;
  /** The aggregation of each field, where they differ. */
  aggregationOf?: ((field: FieldInfo) => Aggregation) | undefined;
  fill?: GapFill | null | undefined;
  timeZone?: string | null | undefined;
}

/** A plan of views and their sizes. */
export interface SeriesPlan {
  viewOf(field: FieldInfo): SeriesView;
  /** Width of the buckets; null: none. */
  resolution: string | null;
  /** Maximum points per series. */
  pointsEach: number;
}

interface Grid {
  resolution: string;
  edges: Float64Array;
}

/** Learns the offsets of the zone that `planSeries` needs, step by step; BAD_USER_INPUT for an unknown zone. */
export function* prepareSeries({ from, to, resolution, maxPoints, timeZone }: SeriesQuery): Generator<void> {
  if (resolution != null || maxPoints != null) yield* learnZone(timeZone ?? 'UTC', from, to);
}

/**
 * The plan for `count` series, whose newest values hold until `now` at most; BAD_USER_INPUT for any mistake in the
 * query.
 */
export function planSeries(query: SeriesQuery, count: number, now: number): SeriesPlan {
  checkRange(query);
  const { resolution, maxPoints, aggregation, fill } = query;
  const timeZone = ZoneOffsets.of(query.timeZone ?? 'UTC').name;
  if (maxPoints != null && (!Number.isInteger(maxPoints) || maxPoints < 1 || maxPoints > MAX_POINTS))
    throw badInput(`"maxPoints" must be from 1 to ${MAX_POINTS}, not ${maxPoints}.`);
  const share = Math.max(1, Math.floor(MAX_POINTS / Math.max(1, count)));
  const pointsEach = Math.min(maxPoints ?? share, share);
  if (resolution != null)
    return bucketPlan(query, gridAsAsked(query, resolution, timeZone, pointsEach, count), -1, now);
  if (maxPoints == null) {
    if (aggregation != null || fill != null)
      throw badInput(
        `"${aggregation == null ? 'fill' : 'aggregation'}" needs buckets: give "resolution" (such as "1h") or "maxPoints", ` +
          'or leave it out for raw values. "statistics" sums a whole range up.',
      );
    return { viewOf: () => ({ kind: 'raw', limit: pointsEach }), resolution: null, pointsEach };
  }
  // A query with an aggregation or a fill gets no raw values.
  const rawUpTo = aggregation == null && query.aggregationOf === undefined && fill == null ? pointsEach : -1;
  const plan = bucketPlan(query, finestGrid(query, timeZone, pointsEach), rawUpTo, now);
  const viewOf = (field: FieldInfo): SeriesView =>
    rawUpTo >= 0 && isNumeric(field.type) && field.type !== 'BOOLEAN'
      ? { kind: 'shape', maxPoints: pointsEach }
      : plan.viewOf(field);
  return { ...plan, viewOf, pointsEach };
}

/** BAD_USER_INPUT unless `from` is before `to`. */
export function checkRange({ from, to }: { from?: number | null | undefined; to?: number | null | undefined }): void {
  if (from != null && to != null && from >= to) throw badInput('"from" must be before "to".');
}

function bucketPlan(query: SeriesQuery, { resolution, edges }: Grid, rawUpTo: number, now: number): SeriesPlan {
  const fill = query.fill ?? 'NULL';
  const viewOf = (field: FieldInfo): SeriesView => {
    const aggregation = query.aggregationOf?.(field) ?? query.aggregation ?? (isNumeric(field.type) ? 'AVG' : 'LAST');
    checkFits(field, aggregation, fill);
    return { kind: 'buckets', edges, aggregation, fill, rawUpTo, heldTo: now };
  };
  return { viewOf, resolution, pointsEach: edges.length - 1 };
}

function gridAsAsked(query: SeriesQuery, text: string, timeZone: string, most: number, count: number): Grid {
  const resolution = parseResolution(text);
  const edges = gridEdges(resolution, timeZone, query.from, query.to, most);
  if (edges !== null) return { resolution: text, edges };
  const limit =
    query.maxPoints === most ? `"maxPoints" ${most}` : `${most} for each of ${count} series (${MAX_POINTS} in all)`;
  throw badInput(
    `"resolution" ${text} gives more buckets from "from" to "to" than ${limit}: use ` +
      `"${finestGrid(query, timeZone, most).resolution}" or wider, a shorter range, or fewer fields.`,
  );
}

function finestGrid({ from, to }: SeriesQuery, timeZone: string, most: number): Grid {
  for (const resolution of LADDER) {
    const edges = gridEdges(parseResolution(resolution), timeZone, from, to, most);
    if (edges !== null) return { resolution, edges };
  }
  throw badInput(`No resolution gives at most ${most} buckets from "from" to "to": allow more "maxPoints".`);
}

function checkFits({ identifier, type, meaning }: FieldInfo, aggregation: Aggregation, fill: GapFill): void {
  if (isNumeric(type) && meaning === 'ANGLE' && (aggregation === 'MIN' || aggregation === 'MAX'))
    throw badInput(
      `"aggregation" ${aggregation} is not for directions such as "${identifier}": none of them is smaller than another. ` +
        'Use AVG (the mean direction), FIRST, LAST or COUNT, or ask for other "fields".',
    );
  const asValue = aggregation === 'FIRST' || aggregation === 'LAST';
  if (!isNumeric(type) && !asValue && aggregation !== 'COUNT')
    throw badInput(
      `"aggregation" ${aggregation} is not for ${NAMES[type]} such as "${identifier}": use FIRST, LAST or COUNT, or ask for other "fields".`,
    );
  if (fill === 'LINEAR' && asValue && (!isNumeric(type) || type === 'BOOLEAN'))
    throw badInput(
      `"fill" LINEAR is not for ${NAMES[type]} such as "${identifier}": use PREVIOUS, NULL or NONE, or ask for other "fields".`,
    );
}

const NAMES: Record<FieldType, string> = {
  FLOAT: 'numbers',
  INTEGER: 'whole numbers',
  BOOLEAN: 'booleans',
  STRING: 'texts',
  GEOLOCATION: 'places',
};

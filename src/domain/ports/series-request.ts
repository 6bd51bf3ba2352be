import type { FieldType, Meant } from '../entities/field.ts';

/** Ways to aggregate the values of a bucket (CONTRACT 7). */
export const AGGREGATIONS = ['AVG', 'TIME_AVG', 'MIN', 'MAX', 'SUM', 'COUNT', 'FIRST', 'LAST', 'DIFFERENCE'] as const;
/** One of `AGGREGATIONS`. */
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Ways to fill a bucket without values (CONTRACT 7). */
export const GAP_FILLS = ['NONE', 'NULL', 'PREVIOUS', 'LINEAR'] as const;
/** One of `GAP_FILLS`. */
export type GapFill = (typeof GAP_FILLS)[number];

/** One value at one time, in ms UTC. */
export interface Moment {
  timestamp: number;
  value: number | string;
}

/** A view of the values of a range. `heldTo`: end of the time for which the newest value holds, in ms UTC. */
export type SeriesView =
  /** The values themselves, the oldest `limit` of them. */
  | { kind: 'raw'; limit: number }
  /** Numbers only: the values themselves if they are at most `maxPoints`, else that many points that keep the shape. */
  | { kind: 'shape'; maxPoints: number }
  /**
   * One value per bucket; bucket i begins at `edges[i]` and ends before `edges[i + 1]`, the first holds `from`, the
   * last the end. `rawUpTo`: maximum values for which the values themselves are returned instead.
   */
  | {
      kind: 'buckets';
      edges: Float64Array;
      aggregation: Aggregation;
      fill: GapFill;
      rawUpTo: number;
      heldTo?: number | undefined;
    }
  /** Statistics of the range; `steps` false: without the difference and the falls. */
  | { kind: 'statistics'; steps?: boolean | undefined; heldTo?: number | undefined };

/** One field of one device from `from` (inclusive) to `to` (exclusive), in ms UTC, seen in one or several ways. */
export interface SeriesRequest extends Meant {
  deviceKey: number;
  fieldKey: number;
  fieldType: FieldType;
  /** A STRING that was a BOOLEAN before (see `readStored`). */
  wasBoolean?: boolean | undefined;
  from: number;
  to: number;
  /** Maximum characters per view, for texts. */
  maxCharacters: number;
  views: SeriesView[];
}

/** Points in time order; `timestamps` in ms UTC (the begin of a bucket), in `values` NaN or null for no value. */
export interface PointsAnswer {
  timestamps: Float64Array;
  values: Float64Array | (number | string | null)[];
  /** True for buckets. */
  bucketed: boolean;
  /** Number of values in the range, shown or not. */
  total: number;
  /** True when a limit cut off later values. */
  truncated: boolean;
}

/** Number of falls in the range by their interpretation (CONTRACT 7, Meaning). */
export interface Falls {
  noise: number;
  gaps: number;
  overflows: number;
  restarts: number;
}

/** Summary of the range; min to difference null where there are no numbers or a sum is beyond float64. */
export interface StatisticsAnswer {
  count: number;
  min: number | null;
  minAt: number | null;
  max: number | null;
  maxAt: number | null;
  average: number | null;
  sum: number | null;
  first: Moment | null;
  last: Moment | null;
  difference: number | null;
  /** Falls of a GAUGE or COUNTER. */
  falls: Falls | null;
}

/** Answer to one view: statistics, or points. */
export type ViewAnswer = PointsAnswer | StatisticsAnswer;

/** Answer to a request: the last value before `from`, and one answer per view, in order. */
export interface SeriesAnswer {
  before: Moment | null;
  views: ViewAnswer[];
}

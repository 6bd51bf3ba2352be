import type { FieldType, Meant } from '../entities/field.ts';

/** How the values of a bucket become one (CONTRACT 7). */
export const AGGREGATIONS = ['AVG', 'TIME_AVG', 'MIN', 'MAX', 'SUM', 'COUNT', 'FIRST', 'LAST', 'DIFFERENCE'] as const;
/** One of `AGGREGATIONS`. */
export type Aggregation = (typeof AGGREGATIONS)[number];

/** What stands for a bucket in which nothing was measured (CONTRACT 7). */
export const GAP_FILLS = ['NONE', 'NULL', 'PREVIOUS', 'LINEAR'] as const;
/** One of `GAP_FILLS`. */
export type GapFill = (typeof GAP_FILLS)[number];

/** One value at one time, in ms UTC. */
export interface Moment {
  timestamp: number;
  value: number | string;
}

/** A way to look at the values of a range. `heldTo`: the newest value holds no longer than to that time, in ms UTC. */
export type SeriesView =
  /** The values themselves, the oldest `limit` of them. */
  | { kind: 'raw'; limit: number }
  /** Of numbers: the values themselves if they are at most `maxPoints`, else as many that keep the shape. */
  | { kind: 'shape'; maxPoints: number }
  /**
   * One value for each bucket; bucket i begins at `edges[i]` and ends before `edges[i + 1]`, the first holds `from`, the
   * last the end. `rawUpTo`: the values themselves if there are no more than so many.
   */
  | {
      kind: 'buckets';
      edges: Float64Array;
      aggregation: Aggregation;
      fill: GapFill;
      rawUpTo: number;
      heldTo?: number | undefined;
    }
  /** `steps` false: nobody asks for the difference, nor for what a fall was taken for. */
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
  /** Of texts, how many characters each view brings at most. */
  maxCharacters: number;
  views: SeriesView[];
}

/** Points in time order; `timestamps` in ms UTC (of buckets: their begin), in `values` NaN or null for no value. */
export interface PointsAnswer {
  timestamps: Float64Array;
  values: Float64Array | (number | string | null)[];
  /** They are buckets. */
  bucketed: boolean;
  /** How many values the range has, shown or not. */
  total: number;
  /** A limit cut off what is later. */
  truncated: boolean;
}

/** How many falls of the range were taken for what (CONTRACT 7, Meaning). */
export interface Falls {
  noise: number;
  gaps: number;
  overflows: number;
  restarts: number;
}

/** The range summed up; min to difference null where there are no numbers or a sum is beyond float64. */
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
  /** Of a GAUGE or COUNTER. */
  falls: Falls | null;
}

/** What a view brings: statistics for statistics, points else. */
export type ViewAnswer = PointsAnswer | StatisticsAnswer;

/** What a request brings: the last value before `from`, and one answer for each view, in order. */
export interface SeriesAnswer {
  before: Moment | null;
  views: ViewAnswer[];
}

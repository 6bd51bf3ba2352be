import type { StoredValue } from '../ports/store.ts';

/** What a chunk of numbers says of itself, so that a bucket that holds it whole need not decode it. Times in ms UTC. */
export interface NumberSummary {
  sum: number;
  min: number;
  /** Of the first value that is the smallest / the largest. */
  minAt: number;
  max: number;
  maxAt: number;
  first: number;
  last: number;
  /** Rises added up from value to value, every fall taken for a restart from 0: last minus first where none falls. */
  rise: number;
  /** Every value is a whole number. */
  whole: boolean;
  /** Every value is 0 or 1. */
  binary: boolean;
}

/** Values of one field of one device in time order, each time once; `timestamps` in ms UTC. */
export interface SegmentColumns {
  timestamps: Float64Array;
  /** Float64Array when all of them are numbers. */
  values: Float64Array | StoredValue[];
}

/** A stretch of one field's values of one device; stretches of one field never overlap. */
export interface Segment {
  /** Times of the first and the last value, in ms UTC. */
  firstAt: number;
  lastAt: number;
  count: number;
  /** null: it must be decoded to know (texts, or readings merged in). */
  summary: NumberSummary | null;
  /** null: not decoded; who evaluates says beforehand which must be. */
  columns: SegmentColumns | null;
}

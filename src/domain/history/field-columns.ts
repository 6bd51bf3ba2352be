import type { Moment, PointsAnswer } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';
import type { ViewResult } from './series-reader.ts';
import { must } from '../../must.ts';

/** Values of one field in time order, without those that do not fit its type, and the last one before them. */
export interface FieldColumns {
  timestamps: Float64Array;
  values: Float64Array | StoredValue[];
  before: Moment | null;
  truncated: boolean;
}

/** The columns of a raw view. */
export function fieldColumns({ before, answer }: ViewResult): FieldColumns {
  const { timestamps, values, truncated } = answer as PointsAnswer;
  const fits = (value: StoredValue | null): value is StoredValue => value !== null && !Number.isNaN(value);
  if (values instanceof Float64Array && !values.some(Number.isNaN)) return { timestamps, values, before, truncated };
  const indexes = Array.from(values.keys()).filter((index) => fits(values[index] ?? null));
  return {
    timestamps: Float64Array.from(indexes, (index) => must(timestamps[index])),
    values: indexes.map((index) => must(values[index])),
    before,
    truncated,
  };
}

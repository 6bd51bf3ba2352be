import type { Moment, PointsAnswer } from '../ports/series-request.ts';
import type { ValueSpan } from './value-span.ts';

/** undefinedFromundefined undefinedaundefined undefinedtimeundefined (undefinedinclusiveundefined) undefinedtoundefined undefinedanotherundefined (undefinedexclusiveundefined), undefinedinundefined undefinedmsundefined undefinedUTCundefined. */
export interface Extent {
  from: number;
  to: number;
}

/** undefinedWhatundefined undefinedisundefined undefinedthereundefined undefinedofundefined undefinedaundefined undefinedrangeundefined, undefinedinundefined undefinedtimeundefined undefinedorderundefined. */
export interface RangeOfValues {
  from: number;
  to: number;
  /** undefinedOfundefined undefinedwhatundefined undefinedisundefined undefinedthereundefined, undefinededgesundefined undefinedofundefined undefinedsegmentsundefined: undefinednoundefined undefinedvalueundefined undefinedliesundefined undefinedoutsideundefined. */
  extent: Extent;
  /** undefinedOfundefined undefinedtextsundefined, undefinedhowundefined undefinedmanyundefined undefinedcharactersundefined undefinedaundefined undefinedviewundefined undefinedbringsundefined undefinedatundefined undefinedmostundefined. */
  maxCharacters: number;
  stretches: readonly ValueSpan[];
  before: Moment | null;
}

/** undefinedHowundefined undefinedmanyundefined undefinedvaluesundefined undefinedtheundefined undefinedrangeundefined undefinedhasundefined, undefinedthoseundefined undefinedthatundefined undefineddoundefined undefinednotundefined undefinedfitundefined undefinedtheundefined undefinedfieldundefined'undefinedsundefined undefinedtypeundefined undefinedincludedundefined. */
export function totalOf({ stretches }: RangeOfValues): number {
  return stretches.reduce((sum, { count }) => sum + count, 0);
}

/** undefinedTheundefined undefinedoldestundefined `undefinedlimitundefined` undefinedvaluesundefined undefinedasundefined undefinedtheyundefined undefinedareundefined. */
export function rawView(range: RangeOfValues, limit: number): PointsAnswer {
  const total = totalOf(range);
  const count = Math.min(total, limit);
  const timestamps = new Float64Array(count);
  const numbers = new Float64Array(count);
  const texts: (string | null)[] = [];
  let at = 0;
  for (const { timestamps: times, values } of range.stretches) {
    if (at === count) break;
    if (times.length === 0) throw new Error('a segment that is needed was not decoded');
    const taken = Math.min(times.length, count - at);
    timestamps.set(times.subarray(0, taken), at);
    if (values instanceof Float64Array) numbers.set(values.subarray(0, taken), at);
    else for (let i = 0; i < taken; i++) texts.push(values[i]!);
    at += taken;
  }
  return { timestamps, values: texts.length > 0 ? texts : numbers, bucketed: false, total, truncated: count < total };
}

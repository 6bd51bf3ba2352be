import { indexAt } from './index-at.ts';
import type { FieldType, ReadAs } from '../entities/field.ts';
import { readStored } from '../measurements/field-value.ts';
import type { NumberSummary, Segment } from '../measurements/segment.ts';
import type { Moment } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';
import { must } from '../../must.ts';

/** Values of a range in their field's present type: columns, or a summary in place of a whole segment. */
export interface ValueSpan {
  count: number;
  firstAt: number;
  lastAt: number;
  summary: NumberSummary | null;
  /** Empty when the summary replaces them. */
  timestamps: Float64Array;
  /** Numbers of a number or boolean field, NaN for values that do not fit; texts of other fields, null likewise. */
  values: Float64Array | (string | null)[];
  /** True when some values do not fit. */
  gaps: boolean;
}

const NO_TIMES = new Float64Array(0);

/** True for types with numbers; others have only first, last and count. */
export function isNumeric(type: FieldType): boolean {
  return type === 'FLOAT' || type === 'INTEGER' || type === 'BOOLEAN';
}

/** True when the segment's summary covers every value of it, read as that type. */
export function summarySpeaks(segment: Segment, type: FieldType): boolean {
  const { summary } = segment;
  if (summary === null) return false;
  return type === 'FLOAT' || (type === 'INTEGER' && summary.whole) || (type === 'BOOLEAN' && summary.binary);
}

/** True when all values of the segment lie in [from, to). */
export function isInside(segment: Segment, from: number, to: number): boolean {
  return segment.firstAt >= from && segment.lastAt < to;
}

/** The segment's values of [from, to), null when there are none; its summary if it is not decoded. */
export function toStretch(segment: Segment, as: ReadAs, from: number, to: number): ValueSpan | null {
  const { columns, summary, count, firstAt, lastAt } = segment;
  if (columns === null) return { count, firstAt, lastAt, summary, timestamps: NO_TIMES, values: NO_TIMES, gaps: false };
  const begin = indexAt(columns.timestamps, from);
  const end = indexAt(columns.timestamps, to);
  if (begin >= end) return null;
  const timestamps = part(columns.timestamps, begin, end);
  const typed = asType(as, columns.values, begin, end);
  return { ...spanOf(timestamps), summary: null, timestamps, ...typed };
}

/** The last value before `from` inside a segment that begins before it; null: it is not decoded, or begins later. */
export function lastBefore(segment: Segment | undefined, from: number): Moment | null {
  if (!segment?.columns) return null;
  const { timestamps, values } = segment.columns;
  const index = indexAt(timestamps, from) - 1;
  return index < 0 ? null : { timestamp: must(timestamps[index]), value: must(values[index]) };
}

/** The moment in the given type (BOOLEAN: 1 or 0); null when it no longer fits. */
export function momentAs(as: ReadAs, moment: Moment | null): Moment | null {
  const value = moment === null ? null : readStored(as, moment.value);
  return moment === null || value === null ? null : { timestamp: moment.timestamp, value };
}

/** The span without values that do not fit; null when none does. */
export function onlyFitting(stretch: ValueSpan): ValueSpan | null {
  const { values, timestamps } = stretch;
  if (!stretch.gaps) return stretch;
  const indexes = Array.from(values.keys()).filter((i) => values[i] !== null && !Number.isNaN(values[i]));
  if (indexes.length === 0) return null;
  const kept = Float64Array.from(indexes, (i) => must(timestamps[i]));
  return {
    ...spanOf(kept),
    summary: null,
    timestamps: kept,
    gaps: false,
    values:
      values instanceof Float64Array
        ? Float64Array.from(indexes, (i) => must(values[i]))
        : indexes.map((i) => values[i] as string),
  };
}

/** A part of the numbers; the whole without a new view. */
function part(numbers: Float64Array, begin: number, end: number): Float64Array {
  return begin === 0 && end === numbers.length ? numbers : numbers.subarray(begin, end);
}

function spanOf(timestamps: Float64Array): Pick<ValueSpan, 'count' | 'firstAt' | 'lastAt'> {
  return { count: timestamps.length, firstAt: must(timestamps[0]), lastAt: must(timestamps.at(-1)) };
}

function asType(
  as: ReadAs,
  stored: Float64Array | readonly StoredValue[],
  begin: number,
  end: number,
): Pick<ValueSpan, 'values' | 'gaps'> {
  const { type } = as;
  if (type === 'FLOAT' && stored instanceof Float64Array) return { values: part(stored, begin, end), gaps: false };
  const numeric = isNumeric(type);
  const numbers = new Float64Array(numeric ? end - begin : 0);
  const texts: (string | null)[] = [];
  let gaps = false;
  for (let i = begin; i < end; i++) {
    const value = readStored(as, must(stored[i]));
    if (value === null) gaps = true;
    if (numeric) numbers[i - begin] = typeof value === 'number' ? value : Number.NaN;
    else texts.push(typeof value === 'string' ? value : null);
  }
  return { values: numeric ? numbers : texts, gaps };
}

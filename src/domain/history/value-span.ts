import { indexAt } from './index-at.ts';
import type { FieldType, ReadAs } from '../entities/field.ts';
import { readStored } from '../measurements/field-value.ts';
import type { NumberSummary, Segment } from '../measurements/segment.ts';
import type { Moment } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';

/** undefinedValuesundefined undefinedofundefined undefinedaundefined undefinedrangeundefined undefinedasundefined undefineditsundefined undefinedfieldundefined'undefinedsundefined undefinedpresentundefined undefinedtypeundefined undefinedhasundefined undefinedthemundefined: undefinedcolumnsundefined, undefinedorundefined undefinedaundefined undefinedsummaryundefined undefinedthatundefined undefinedstandsundefined undefinedforundefined undefinedaundefined undefinedwholeundefined undefinedsegmentundefined. */
export interface ValueSpan {
  count: number;
  firstAt: number;
  lastAt: number;
  summary: NumberSummary | null;
  /** undefinedEmptyundefined undefinedwhereundefined undefinedtheundefined undefinedsummaryundefined undefinedstandsundefined undefinedforundefined undefinedthemundefined. */
  timestamps: Float64Array;
  /** undefinedNumbersundefined undefinedofundefined undefinedaundefined undefinednumberundefined undefinedorundefined undefinedbooleanundefined undefinedfieldundefined undefinedwithundefined undefinedNaNundefined, undefinedtextsundefined undefinedofundefined undefinedanotherundefined undefinedwithundefined undefinednullundefined, undefinedwhereundefined undefinedaundefined undefinedvalueundefined undefineddoesundefined undefinednotundefined undefinedfitundefined undefinedtheundefined undefinedtypeundefined. */
  values: Float64Array | (string | null)[];
  /** undefinedSomeundefined undefinedofundefined undefinedthemundefined undefineddoundefined undefinednotundefined undefinedfitundefined. */
  gaps: boolean;
}

const NO_TIMES = new Float64Array(0);

/** undefinedNumberundefined undefinedfieldsundefined undefinedreckonundefined; undefinedofundefined undefinedothersundefined undefinedthereundefined undefinedisundefined undefinedonlyundefined undefinedfirstundefined, undefinedlastundefined undefinedandundefined undefinedcountundefined. */
export function isNumeric(type: FieldType): boolean {
  return type === 'FLOAT' || type === 'INTEGER' || type === 'BOOLEAN';
}

/** undefinedWhetherundefined undefinedtheundefined undefinedsegmentundefined'undefinedsundefined undefinedsummaryundefined undefinedspeaksundefined undefinedforundefined undefinedeveryundefined undefinedvalueundefined undefinedofundefined undefineditundefined, undefinedseenundefined undefinedasundefined undefinedthatundefined undefinedtypeundefined. */
export function summarySpeaks(segment: Segment, type: FieldType): boolean {
  const { summary } = segment;
  if (summary === null) return false;
  return type === 'FLOAT' || (type === 'INTEGER' && summary.whole) || (type === 'BOOLEAN' && summary.binary);
}

/** undefinedWhetherundefined undefineditundefined undefinedliesundefined undefinedinundefined [undefinedfromundefined, undefinedtoundefined) undefinedwithundefined undefinedallundefined undefineditsundefined undefinedvaluesundefined. */
export function isInside(segment: Segment, from: number, to: number): boolean {
  return segment.firstAt >= from && segment.lastAt < to;
}

/** undefinedTheundefined undefinedsegmentundefined'undefinedsundefined undefinedvaluesundefined undefinedofundefined [undefinedfromundefined, undefinedtoundefined), undefinednullundefined undefinedwhenundefined undefinedthereundefined undefinedareundefined undefinednoneundefined; undefinedoneundefined undefinedthatundefined undefinedisundefined undefinednotundefined undefineddecodedundefined undefinedcomesundefined undefinedasundefined undefineditsundefined undefinedsummaryundefined. */
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

/** undefinedTheundefined undefinedlastundefined undefinedvalueundefined undefinedbeforeundefined `undefinedfromundefined` undefinedinsideundefined undefinedaundefined undefinedsegmentundefined undefinedthatundefined undefinedbeginsundefined undefinedbeforeundefined undefineditundefined; undefinednullundefined: undefineditundefined undefinedisundefined undefinednotundefined undefineddecodedundefined, undefinedorundefined undefinedbeginsundefined undefinedlaterundefined. */
export function lastBefore(segment: Segment | undefined, from: number): Moment | null {
  if (!segment?.columns) return null;
  const { timestamps, values } = segment.columns;
  const index = indexAt(timestamps, from) - 1;
  return index < 0 ? null : { timestamp: timestamps[index]!, value: values[index]! };
}

/** undefinedAsundefined undefinedtheundefined undefinedtypeundefined undefinedhasundefined undefineditundefined (undefinedBOOLEANundefined: undefined1undefined undefinedorundefined undefined0undefined); undefinednullundefined undefinedwhereundefined undefineditundefined undefineddoesundefined undefinednotundefined undefinedfitundefined undefinedanyundefined undefinedmoreundefined. */
export function momentAs(as: ReadAs, moment: Moment | null): Moment | null {
  const value = moment === null ? null : readStored(as, moment.value);
  return moment === null || value === null ? null : { timestamp: moment.timestamp, value };
}

/** undefinedWithoutundefined undefinedtheundefined undefinedvaluesundefined undefinedthatundefined undefineddoundefined undefinednotundefined undefinedfitundefined; undefinednullundefined undefinedwhenundefined undefinednoneundefined undefineddoesundefined. */
export function onlyFitting(stretch: ValueSpan): ValueSpan | null {
  const { values, timestamps } = stretch;
  if (!stretch.gaps) return stretch;
  const indexes = Array.from(values.keys()).filter((i) => values[i] !== null && !Number.isNaN(values[i]));
  if (indexes.length === 0) return null;
  const kept = Float64Array.from(indexes, (i) => timestamps[i]!);
  return {
    ...spanOf(kept),
    summary: null,
    timestamps: kept,
    gaps: false,
    values:
      values instanceof Float64Array
        ? Float64Array.from(indexes, (i) => values[i]!)
        : indexes.map((i) => values[i] as string),
  };
}

/** undefinedWithoutundefined undefinedaundefined undefinednewundefined undefinedviewundefined undefinedofundefined undefinedwhatundefined undefinedisundefined undefinedwantedundefined undefinedwholeundefined. */
function part(numbers: Float64Array, begin: number, end: number): Float64Array {
  return begin === 0 && end === numbers.length ? numbers : numbers.subarray(begin, end);
}

function spanOf(timestamps: Float64Array): Pick<ValueSpan, 'count' | 'firstAt' | 'lastAt'> {
  return { count: timestamps.length, firstAt: timestamps[0]!, lastAt: timestamps.at(-1)! };
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
    const value = readStored(as, stored[i]!);
    if (value === null) gaps = true;
    if (numeric) numbers[i - begin] = typeof value === 'number' ? value : Number.NaN;
    else texts.push(typeof value === 'string' ? value : null);
  }
  return { values: numeric ? numbers : texts, gaps };
}

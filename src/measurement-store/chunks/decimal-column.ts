import { integersLength } from './integer-column.ts';

/** Maximum decimals per value: eight bytes hold any value of more. */
const MAX_DECIMALS = 12;
/** Keeps every step between two scaled values exact in float64. */
const MAX_SCALED = 2 ** 51;
/** Values per exception that may be kept beside the integers. */
const EXCEPTION_SHARE = 32;

/** Values that are whole multiples of a power of ten, but for some. */
export interface Decimals {
  /** Each value times 10^decimals; at an exception the one before again. */
  integers: Float64Array;
  decimals: number;
  /** Whether runs make them shorter (see `writeIntegers`), ... */
  runs: boolean;
  /** ... and their length in bytes. */
  bytes: number;
  /** Indexes of values that are no such decimal, ascending. */
  exceptions: number[];
}

/** The values as whole multiples of a power of ten that give them back bit for bit, or null when most are none. */
export function toDecimals(values: Float64Array): Decimals | null {
  const allowed = Math.floor(values.length / EXCEPTION_SHARE);
  const byDecimals = new Uint32Array(MAX_DECIMALS + 1);
  let none = 0;
  for (const value of values) {
    const found = fewestDecimals(value);
    if (found !== null) byDecimals[found]!++;
    else if (++none > allowed) return null;
  }
  let decimals = MAX_DECIMALS;
  let above = none;
  while (decimals > 0 && above + byDecimals[decimals]! <= allowed) above += byDecimals[decimals--]!;
  const integers = new Float64Array(values.length);
  const exceptions: number[] = [];
  let previous = 0;
  for (let i = 0; i < values.length; i++) {
    const integer = scaled(values[i]!, decimals);
    if (integer === null) exceptions.push(i);
    else previous = integer;
    integers[i] = previous;
  }
  const [plain, inRuns] = [integersLength(integers, false), integersLength(integers, true)];
  return { integers, decimals, exceptions, runs: inRuns < plain, bytes: Math.min(plain, inRuns) };
}

function fewestDecimals(value: number): number | null {
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++) if (scaled(value, decimals) !== null) return decimals;
  return null;
}

/** The proof: what dividing gives back is the value itself (no rounding). */
function scaled(value: number, decimals: number): number | null {
  const power = 10 ** decimals;
  // -0 becomes 0 here, and is no integer then.
  const integer = Math.round(value * power) + 0;
  return Math.abs(integer) <= MAX_SCALED && Object.is(integer / power, value) ? integer : null;
}

import type { NumberSummary } from '../../domain/measurements/segment.ts';
import { must } from '../../must.ts';

const NUMBERS = ['sum', 'min', 'minAt', 'max', 'maxAt', 'first', 'last', 'rise'] as const;
/** Bytes of a summary. */
export const SUMMARY_BYTES = NUMBERS.length * 8 + 1;
const WHOLE = 1;
const BINARY = 2;

/** A summary as 65 bytes: eight float64 (little-endian) and its flags. */
export function packSummary(summary: NumberSummary): Buffer {
  const bytes = Buffer.allocUnsafe(SUMMARY_BYTES);
  NUMBERS.forEach((name, i) => bytes.writeDoubleLE(summary[name], i * 8));
  bytes[SUMMARY_BYTES - 1] = (summary.whole ? WHOLE : 0) | (summary.binary ? BINARY : 0);
  return bytes;
}

/** The summary that `packSummary` packed; it begins at `start`. */
export function unpackSummary(bytes: Buffer, start = 0): NumberSummary {
  const at = (i: number): number => bytes.readDoubleLE(start + i * 8);
  const flags = must(bytes[start + SUMMARY_BYTES - 1]);
  return {
    sum: at(0),
    min: at(1),
    minAt: at(2),
    max: at(3),
    maxAt: at(4),
    first: at(5),
    last: at(6),
    rise: at(7),
    whole: (flags & WHOLE) !== 0,
    binary: (flags & BINARY) !== 0,
  };
}

import type { NumberSummary } from './segment.ts';

/**
 * The summary of `values[start]` to `values[end - 1]` (at least one); `timestamps` in ms UTC, ascending. null when a sum
 * of them is beyond float64: then they must be looked at one by one.
 */
export function summarize(
  timestamps: Float64Array,
  values: Float64Array,
  start = 0,
  end = values.length,
): NumberSummary | null {
  const first = values[start]!;
  let sum = 0;
  // Neumaier: what rounding took away, so that sums of summaries and sums of values agree.
  let lost = 0;
  let min = first;
  let max = first;
  let minIndex = start;
  let maxIndex = start;
  let previous = first;
  let dropped = 0;
  let whole = true;
  let binary = true;
  for (let i = start; i < end; i++) {
    const value = values[i]!;
    const next = sum + value;
    lost += Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
    sum = next;
    if (value < min) {
      min = value;
      minIndex = i;
    } else if (value > max) {
      max = value;
      maxIndex = i;
    }
    if (value < previous) dropped += previous;
    previous = value;
    if (whole && !Number.isInteger(value)) whole = false;
    if (binary && value !== 0 && value !== 1) binary = false;
  }
  sum += lost;
  const rise = previous - first + dropped;
  if (!Number.isFinite(sum) || !Number.isFinite(rise)) return null;
  const minAt = timestamps[minIndex]!;
  const maxAt = timestamps[maxIndex]!;
  return { sum, min, minAt, max, maxAt, first, last: previous, rise, whole, binary };
}

/** Digits that are left of a multiple of a step: what is behind them is the error of computing in binary. */
const DIGITS = 12;

/** Where the marks of a value axis stand: the multiples of `step` from `min` to `max`. */
export function valueMarks(min: number, max: number, step: number): number[] {
  const first = Math.ceil(min / step);
  const count = Math.max(0, Math.floor(max / step) - first + 1);
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(DIGITS)) + 0);
}

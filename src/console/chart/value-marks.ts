/** Digits to which a multiple of a step is rounded, against the errors of binary fractions. */
const DIGITS = 12;

/** The marks of a value axis: the multiples of `step` from `min` to `max`. */
export function valueMarks(min: number, max: number, step: number): number[] {
  const first = Math.ceil(min / step);
  const count = Math.max(0, Math.floor(max / step) - first + 1);
  return Array.from({ length: count }, (_, at) => Number(((first + at) * step).toPrecision(DIGITS)) + 0);
}

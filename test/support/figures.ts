/** The middle one of some values; of an even number the upper of the two. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

/** To two places behind the point. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * How much of `whole` each gets: nobody more than it wants, and whoever has not all it wants as much as anybody else has,
 * to one.
 */
export function shareFairly(wanted: readonly number[], whole: number): number[] {
  const shares = wanted.map(() => 0);
  const order = Array.from(wanted.keys()).sort((a, b) => wanted[a]! - wanted[b]!);
  let left = whole;
  order.forEach((index, at) => {
    shares[index] = Math.min(wanted[index]!, Math.floor(left / (order.length - at)));
    left -= shares[index];
  });
  return shares;
}

import { must } from '../../must.ts';

/** Shares of `whole`: none larger than wanted, and all that are smaller than wanted equal, to within one. */
export function shareFairly(wanted: readonly number[], whole: number): number[] {
  const shares = wanted.map(() => 0);
  const order = Array.from(wanted.keys()).sort((a, b) => must(wanted[a]) - must(wanted[b]));
  let left = whole;
  order.forEach((index, at) => {
    shares[index] = Math.min(must(wanted[index]), Math.floor(left / (order.length - at)));
    left -= shares[index];
  });
  return shares;
}

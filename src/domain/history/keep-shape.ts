import type { Extent } from './raw-view.ts';
import type { Tally } from './tally.ts';

/** Points per interval: the first, smallest, largest and last value (M4). */
const POINTS_A_STRETCH = 4;

/** The edges, in whole ms, of the equal intervals of an extent that give at most `maxPoints` points. */
export function shapeEdges({ from, to }: Extent, maxPoints: number): Float64Array {
  const count = Math.max(1, Math.floor(maxPoints / POINTS_A_STRETCH));
  return Float64Array.from({ length: count + 1 }, (_, i) => Math.ceil(from + ((to - from) * i) / count));
}

/**
 * First, smallest, largest and last value of each interval, without duplicates, in time order: their chart looks the
 * same.
 */
export function shapeOf(
  tallies: readonly (Tally | null)[],
  maxPoints: number,
): { timestamps: Float64Array; values: Float64Array } {
  const points = tallies.flatMap((tally) => {
    if (tally === null) return [];
    const { first, firstAt, last, lastAt, min, minAt, max, maxAt } = tally;
    // The most important ones first, in case fewer than four fit.
    const moments: [number, number][] = [
      [lastAt, last],
      [firstAt, first],
      [maxAt, max],
      [minAt, min],
    ];
    return [...new Map(moments.slice(0, maxPoints))].sort(([a], [b]) => a - b);
  });
  return {
    timestamps: Float64Array.from(points, ([at]) => at),
    values: Float64Array.from(points, ([, value]) => value),
  };
}

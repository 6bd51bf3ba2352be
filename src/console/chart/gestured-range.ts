import type { Gesture } from '../parts/gestures.ts';

/** A range of time in milliseconds. */
export interface Stretch {
  from: number;
  to: number;
}

/**
 * The range that a chart shows after fingers moved over it: the points under them stay under them. The chart's plot
 * begins at `left` and is `width` wide, in pixels.
 */
export function gesturedRange(
  { from, to }: Stretch,
  { dx, factor, at }: Gesture,
  left: number,
  width: number,
): Stretch {
  const aPixel = (to - from) / width;
  const held = from + (at.x - dx - left) * aPixel;
  const start = held - ((at.x - left) * aPixel) / factor;
  return { from: start, to: start + (to - from) / factor };
}

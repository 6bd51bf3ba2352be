import type uPlot from 'uplot';
import { color, type ColorName } from './chart-colors.ts';

/** A line that values are compared with: its points in time order (Unix seconds), null being a gap. */
export interface Reference {
  timestamps: readonly number[];
  values: readonly (number | null)[];
  color: ColorName;
  /** `strong`: what is compared with. `weak`: beside it, such as where it ends again. */
  weight: 'strong' | 'weak';
}

/** A line at the same height from `from` to `to` (milliseconds). */
export function levelLine(
  value: number,
  range: { from: number; to: number },
  how: Omit<Reference, 'timestamps' | 'values'>,
): Reference {
  return { timestamps: [range.from / 1_000, range.to / 1_000], values: [value, value], ...how };
}

/** The smallest and the largest value of a chart, with those of its references. */
export function spanOf(
  references: readonly Reference[] | undefined,
  min: number | null,
  max: number | null,
): [number | null, number | null] {
  let [low, high] = [min ?? Infinity, max ?? -Infinity];
  for (const { values } of references ?? [])
    for (const value of values) if (value !== null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low > high ? [null, null] : [low, high];
}

const DASHES = { strong: [8, 5], weak: [2, 5] } as const;

/** Draws the references over a chart, within its frame. */
export function drawReferences(chart: uPlot, references: readonly Reference[] | undefined): void {
  const { ctx, bbox } = chart;
  for (const { timestamps, values, color: ink, weight } of references ?? []) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = color(ink);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash(DASHES[weight].map((length) => length * devicePixelRatio));
    ctx.beginPath();
    let isOn = false;
    for (const [at, value] of values.entries()) {
      if (value === null) {
        isOn = false;
        continue;
      }
      const [x, y] = [chart.valToPos(timestamps[at]!, 'x', true), chart.valToPos(value, 'y', true)];
      if (isOn) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      isOn = true;
    }
    ctx.stroke();
    ctx.restore();
  }
}

import type uPlot from 'uplot';
import { color, type ColorName } from './chart-colors.ts';
import { inFrame } from './draw-marks.ts';

/** A line that values are compared with: its points in time order (Unix seconds), null being a gap. */
export interface Reference {
  timestamps: readonly number[];
  values: readonly (number | null)[];
  color: ColorName;
  /** `strong`: what is compared with. `weak`: beside it, such as where it ends again. */
  weight: 'strong' | 'weak';
  /** Written above its end at the right. */
  name?: string;
  /** `near`: brought into sight only where the values come close to it. Left out: always. */
  reach?: 'near';
}

/** A line at the same height from `from` to `to` (milliseconds). */
export function levelLine(
  value: number,
  range: { from: number; to: number },
  how: Omit<Reference, 'timestamps' | 'values'>,
): Reference {
  return { timestamps: [range.from / 1_000, range.to / 1_000], values: [value, value], ...how };
}

/** How far from the values, by their span, a `near` reference is brought into sight. */
const NEAR = 1;

/** The smallest and the largest value of a chart, with those of its references. */
export function spanOf(
  references: readonly Reference[] | undefined,
  min: number | null,
  max: number | null,
): [number | null, number | null] {
  let [low, high] = [min ?? Infinity, max ?? -Infinity];
  const far = max === null || min === null ? Infinity : Math.max(max - min, Math.abs(max) / 10) * NEAR;
  const [least, most] = [low - far, high + far];
  for (const { values, reach } of references ?? [])
    for (const value of values) {
      if (value === null || (reach === 'near' && (value < least || value > most))) continue;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
  return low > high ? [null, null] : [low, high];
}

const NAME_SIZE = 11;
const DASHES = { strong: [8, 5], weak: [2, 5] } as const;

/** Draws the references over a chart, within its frame. */
export function drawReferences(chart: uPlot, references: readonly Reference[] | undefined): void {
  for (const reference of references ?? []) inFrame(chart, (ctx) => drawReference(chart, ctx, reference));
}

function drawReference(
  chart: uPlot,
  ctx: CanvasRenderingContext2D,
  { timestamps, values, color: ink, weight, name }: Reference,
): void {
  const { left, width, top } = chart.bbox;
  ctx.strokeStyle = ctx.fillStyle = color(ink);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash(DASHES[weight].map((length) => length * devicePixelRatio));
  ctx.beginPath();
  let [isOn, last] = [false, 0];
  for (const [at, value] of values.entries()) {
    if (value === null) {
      isOn = false;
      continue;
    }
    const [x, y] = [chart.valToPos(timestamps[at]!, 'x', true), chart.valToPos(value, 'y', true)];
    if (isOn) ctx.lineTo(x, y);
    else ctx.moveTo(x, y);
    [isOn, last] = [true, y];
  }
  ctx.stroke();
  if (name === undefined) return;
  const size = NAME_SIZE * devicePixelRatio;
  ctx.font = `${size}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  // Below the line where there is no room above it.
  const isHigh = last - top < 2 * size;
  ctx.fillText(name, left + width - size / 2, isHigh ? last + 1.2 * size : last - size / 2);
}

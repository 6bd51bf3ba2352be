import uPlot from 'uplot';
import { color, type ColorName } from './chart-colors.ts';
import type { Columns } from './merge-values.ts';

/** A further line in a chart, which its own values are compared with. */
export interface OtherSeries extends Columns<number> {
  name: string;
  color: ColorName;
  /** `same`: by the axis of the chart. `own`: by an axis at the right. */
  axis: 'same' | 'own';
  isDashed?: boolean | undefined;
  /** Text of a value; left out: as the chart's own values. */
  text?: ((value: number) => string) | undefined;
}

/** Pixels between two points from which each is shown as a dot. */
export const DOT_EVERY = 14;
const DASH = [6, 4];
const LINE = uPlot.paths.linear!();

/** The parts by which a chart for other lines is another chart. */
export function shapeOfOthers(others: readonly OtherSeries[]): string {
  return others.map(({ color: ink, axis, isDashed }) => `${ink} ${axis} ${isDashed === true}`).join();
}

/** The lines as uPlot has them. */
export function uplotSeries(others: readonly OtherSeries[]): uPlot.Series[] {
  return others.map(({ color: ink, axis, isDashed }) => ({
    scale: axis === 'own' ? 'own' : 'y',
    stroke: () => color(ink),
    width: 1.5,
    ...(isDashed === true ? { dash: DASH } : {}),
    paths: LINE,
    points: {
      // Else a lone value is not seen. Columns have the times of all lines.
      show: (drawn, at, first, last) =>
        isDashed !== true &&
        countWithin(drawn.data[at] ?? [], first, last) * DOT_EVERY * devicePixelRatio < drawn.bbox.width,
      size: 5,
      fill: () => color(ink),
    },
  }));
}

function countWithin(values: ArrayLike<number | null | undefined>, first: number, last: number): number {
  let count = 0;
  for (let at = first; at <= last; at += 1) if (typeof values[at] === 'number') count += 1;
  return count;
}

/** The columns of a chart with those of other lines, on one axis of time. */
export function joined(own: uPlot.AlignedData, others: readonly OtherSeries[]): uPlot.AlignedData {
  if (others.length === 0) return own;
  const tables = others.map(({ timestamps, values }) => [timestamps, values] as unknown as uPlot.AlignedData);
  return uPlot.join([own, ...tables]);
}

/** The index of a series' value nearest to `at`: joined columns have values of others in between. */
export function nearestIndex(values: ArrayLike<number | null | undefined>, at: number): number {
  if (values[at] !== undefined) return at;
  for (let by = 1; by < values.length; by += 1) {
    if (values[at - by] !== undefined) return at - by;
    if (values[at + by] !== undefined) return at + by;
  }
  return at;
}

/** The value of a line that is nearest in time (Unix seconds); null: there is none. */
export function valueNear({ timestamps, values }: Columns<number>, time: number): number | null {
  const at = placeOf(timestamps, time);
  return at === null ? null : (values[at] ?? null);
}

/** The index of the time nearest to `time` among times in order; null: there are none. */
export function placeOf(timestamps: readonly number[], time: number): number | null {
  if (timestamps.length === 0) return null;
  let [low, high] = [0, timestamps.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timestamps[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low > 0 && time - timestamps[low - 1]! <= timestamps[low]! - time ? low - 1 : low;
}

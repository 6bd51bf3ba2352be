import type uPlot from 'uplot';
import { color, type ColorName, faint } from './chart-colors.ts';

/** Runs `draw` with pixels outside the frame of the chart left alone. */
export function inFrame({ ctx, bbox }: uPlot, draw: (ctx: CanvasRenderingContext2D) => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw(ctx);
  ctx.restore();
}

const STRIPE = 8;

/** Hatches the part of a chart before `keptFrom` (ms), whose values are no longer kept. */
export function drawForgotten(chart: uPlot, keptFrom: number | null | undefined): void {
  if (keptFrom == null) return;
  const { left, top, height, width } = chart.bbox;
  const end = Math.min(left + width, chart.valToPos(keptFrom / 1_000, 'x', true));
  if (end <= left) return;
  inFrame(chart, (ctx) => {
    ctx.fillStyle = faint('muted', 0.08);
    ctx.fillRect(left, top, end - left, height);
    ctx.beginPath();
    ctx.rect(left, top, end - left, height);
    ctx.clip();
    ctx.strokeStyle = faint('muted', 0.25);
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    for (let x = left - height; x < end; x += STRIPE * devicePixelRatio) {
      ctx.moveTo(x, top + height);
      ctx.lineTo(x + height, top);
    }
    ctx.stroke();
  });
}

const FLAG = 5;

/** Draws a line with a flag at each of the times (Unix seconds). */
export function drawTimes(chart: uPlot, times: readonly number[] | undefined): void {
  if (times === undefined || times.length === 0) return;
  const { top, height } = chart.bbox;
  const size = FLAG * devicePixelRatio;
  inFrame(chart, (ctx) => {
    ctx.strokeStyle = ctx.fillStyle = color('series-4');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const time of times) {
      const x = Math.round(chart.valToPos(time, 'x', true));
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
      ctx.beginPath();
      ctx.moveTo(x - size, top);
      ctx.lineTo(x + size, top);
      ctx.lineTo(x, top + 1.4 * size);
      ctx.fill();
    }
  });
}

/** Draws the states of a stepped line over it, each in its colour; null: in that of the line. */
export function drawStates(chart: uPlot, colorOf: ((value: number) => ColorName | null) | undefined): void {
  if (colorOf === undefined) return;
  const [times, values = []] = chart.data;
  inFrame(chart, (ctx) => {
    ctx.lineWidth = 4 * devicePixelRatio;
    for (let at = 0; at < times.length - 1; at += 1) {
      const value = values[at];
      const ink = value == null ? null : colorOf(value);
      if (ink === null || value == null) continue;
      const y = chart.valToPos(value, 'y', true);
      ctx.strokeStyle = color(ink);
      ctx.beginPath();
      ctx.moveTo(chart.valToPos(times[at]!, 'x', true), y);
      ctx.lineTo(chart.valToPos(times[at + 1]!, 'x', true), y);
      ctx.stroke();
    }
  });
}

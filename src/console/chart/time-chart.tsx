import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { color, type ColorName, faint, onColors } from './chart-colors.ts';
import { followFingers } from './follow-fingers.ts';
import { followKeys } from './follow-keys.ts';
import type { Stretch } from './gestured-range.ts';
import { drawReferences, type Reference, spanOf } from './references.ts';
import { zoneName } from '../time/local-time.ts';
import { timeLabels } from './time-axis.ts';
import { valueMarks } from './value-marks.ts';
import './time-chart.css';

/** Data of a chart; times are Unix seconds. Columns have the length of `timestamps`, null being a gap. */
export interface ChartData {
  timestamps: readonly number[];
  values: readonly (number | null)[];
  /** Smallest and largest value of each bucket, drawn as a band behind the line. */
  band?: { low: readonly (number | null)[]; high: readonly (number | null)[] } | undefined;
}

/** Index in the columns under the cursor; null: the cursor is not over the chart. */
export type UnderCursor = number | null;

type ChartShape = 'line' | 'area' | 'step' | 'bar';

interface TimeChartProps {
  /** Label for screen readers. */
  label: string;
  data: ChartData;
  /** The shown range, in milliseconds. */
  from: number;
  to: number;
  /** `step`: a value holds until the next one. `bar`: from each time to the next, from 0 upwards. */
  shape: ChartShape;
  /** Names of the values 0, 1, 2 … in place of numbers. */
  names?: readonly string[] | undefined;
  /** Text of a value at the axis. */
  text: (value: number) => string;
  color?: ColorName;
  /** Lines to compare the values with, always in sight. */
  references?: readonly Reference[] | undefined;
  height?: number;
  /** Charts with the same key share their cursor. */
  syncKey: string;
  /** Called with the index under the cursor; left out: keys do not move the cursor. */
  onCursor?: (at: UnderCursor) => void;
  /** Called after dragging over a range, in milliseconds. */
  onZoom: (from: number, to: number) => void;
  /** Called by a double click. */
  onBack: () => void;
}

const HEIGHT = 176;
const AXIS_WIDTH = 64;
/** Half the width of the label under the last mark. */
const HALF_A_LABEL = 20;
const FONT = '12px system-ui, sans-serif';
/** Pixels between a text at the axis and the chart. */
const BESIDE_TEXT = 9;
const MOST_LETTERS = 16;
/** Pixels between two points from which each is shown as a dot. */
const DOT_EVERY = 14;
const NARROWEST_DRAG = 6;

/**
 * A chart over time. Dragging with the mouse zooms, a double click goes back, the cursor moves in all charts of its
 * key; Left and Right move it from value to value. One finger moves through time, two zoom; up and down scrolls the
 * page. New data never replaces the chart: a drag may be in progress.
 */
export function TimeChart(props: TimeChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  const held = useRef<Stretch | null>(null);
  latest.current = { ...props, ...held.current };
  const { label, data, from, to, shape, names, height = HEIGHT, color: ink = 'series-1', syncKey } = props;
  const [isBars, isRead] = [shape === 'bar', props.onCursor !== undefined];
  const rows = names?.join('\n');
  useEffect(() => {
    const element = host.current!;
    const sizeOf = (): Size => ({ width: element.clientWidth, height: element.clientHeight });
    const made = new uPlot(optionsOf(latest, sizeOf(), { isBars, ink, syncKey }), [[], [], [], []], element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize(sizeOf()));
    resized.observe(element);
    const unfollow = onColors(() => made.redraw());
    const unfollowFingers = followFingers(element, made, {
      shown: () => ({ from: latest.current.from, to: latest.current.to }),
      hold: (at) => {
        held.current = at;
        latest.current = { ...latest.current, ...at };
      },
      zoom: (to) => latest.current.onZoom(to.from, to.to),
    });
    const unfollowKeys = isRead ? followKeys(element, made, syncKey) : () => {};
    return () => {
      unfollow();
      unfollowKeys();
      unfollowFingers();
      resized.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [isBars, isRead, ink, syncKey]);
  useEffect(() => {
    const drawn = chart.current!;
    const { timestamps, values, band } = data;
    for (const edge of EDGES)
      if (drawn.series[edge]!.show !== (band !== undefined)) drawn.setSeries(edge, { show: band !== undefined });
    drawn.setData([timestamps, values, band?.low ?? [], band?.high ?? []] as unknown as uPlot.AlignedData);
  }, [data, from, to, shape, isRead, ink, syncKey, rows, props.references]);
  return (
    <div
      ref={host}
      class="time-chart"
      role="img"
      aria-label={label}
      tabIndex={isRead ? 0 : undefined}
      style={{ height: `${height}px` }}
    />
  );
}

/** The series of the smallest and the largest values, which bound the band. */
const EDGES = [2, 3] as const;

type Size = Pick<uPlot.Options, 'width' | 'height'>;

interface Fixed {
  isBars: boolean;
  ink: ColorName;
  syncKey: string;
}

function optionsOf(latest: { current: TimeChartProps }, size: Size, fixed: Fixed): uPlot.Options {
  const { isBars, ink, syncKey } = fixed;
  const stroke = (): string => color(ink);
  const axis = {
    stroke: () => color('muted'),
    grid: { stroke: () => color('line'), width: 1 },
    ticks: { stroke: () => color('line'), width: 1, size: 4 },
    font: FONT,
  };
  const edge: uPlot.Series = {
    show: false,
    stroke: () => faint(ink, 0),
    width: 0,
    points: { show: false },
    paths: uPlot.paths.linear!(),
  };
  const names = (): readonly string[] | undefined => latest.current.names;
  return {
    ...size,
    // Marks stand at the full hours and days of the reader's zone.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), zoneName()),
    padding: [8, HALF_A_LABEL, 0, 0],
    legend: { show: false },
    cursor: {
      sync: {
        key: syncKey,
        scales: ['x', null],
        // Dragging stays within one chart.
        filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave', sub: () => true },
      },
      y: false,
      drag: { x: true, y: false, setScale: false, dist: NARROWEST_DRAG },
      points: { size: 7, fill: stroke, stroke: () => color('panel'), width: 2 },
      bind: {
        dblclick: () => () => {
          latest.current.onBack();
          return null;
        },
      },
    },
    scales: {
      x: { time: true, range: () => [latest.current.from / 1_000, latest.current.to / 1_000] },
      y: {
        range: (_chart, min, max) => {
          const [low, high] = spanOf(latest.current.references, min, max);
          return rangeOf(low, high, names(), latest.current.shape);
        },
      },
    },
    axes: [
      { ...axis, size: 40, space: 64, values: (_chart, marks, _axis, _space, step) => timeLabels(marks, step) },
      {
        ...axis,
        size: (chart, texts: string[] | null) => axisWidth(chart.ctx, texts ?? []),
        splits: (_chart, _axis, min, max, step) => names()?.map((_, at) => at) ?? valueMarks(min, max, step),
        values: ({ ctx }, splits) =>
          splits.map((value) => fittingName(ctx, names()?.[value]) ?? latest.current.text(value)),
      },
    ],
    series: [
      {},
      {
        stroke,
        width: isBars ? 0 : 1.75,
        paths: (...drawn) => PATHS[latest.current.shape](...drawn),
        fill: () => faint(ink, FILLED[latest.current.shape]),
        // Fill an area down to the end of the chart, as most values are far from 0.
        fillTo: (drawn) => (latest.current.shape === 'area' ? drawn.scales['y']!.min! : 0),
        points: {
          show: (drawn, _series, first, last) =>
            !isBars && (last - first) * DOT_EVERY * devicePixelRatio < drawn.bbox.width,
          size: 5,
          fill: stroke,
        },
      },
      edge,
      edge,
    ],
    bands: [{ series: [EDGES[1], EDGES[0]], fill: () => faint(ink, 0.18) }],
    hooks: {
      draw: [(drawn) => drawReferences(drawn, latest.current.references)],
      setCursor: [({ cursor }) => latest.current.onCursor?.(cursor.idx ?? null)],
      setSelect: [
        (drawn) => {
          const { left, width: wide } = drawn.select;
          if (wide < NARROWEST_DRAG) return;
          const [start, end] = [drawn.posToVal(left, 'x'), drawn.posToVal(left + wide, 'x')];
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom(start * 1_000, end * 1_000);
        },
      ],
    },
  };
}

const BAR_PART = 0.8;
const WIDEST_BAR = 48;
const LINE = uPlot.paths.linear!();
const PATHS: Record<ChartShape, uPlot.Series.PathBuilder> = {
  line: LINE,
  area: LINE,
  step: uPlot.paths.stepped!({ align: 1 }),
  bar: uPlot.paths.bars!({ size: [BAR_PART, WIDEST_BAR], align: 1 }),
};
/** Opacity of the fill below the line. */
const FILLED: Record<ChartShape, number> = { line: 0, area: 0.25, step: 0.1, bar: 0.85 };

/** The range of values with a margin above and below; a constant line is in the middle, bars begin at 0. */
function rangeOf(
  min: number | null,
  max: number | null,
  names: readonly string[] | undefined,
  shape: ChartShape,
): [number, number] {
  if (names !== undefined) return [-0.25, Math.max(1, names.length - 1) + 0.25];
  if (min == null || max == null) return [0, 1];
  if (shape === 'bar') {
    const [low, high] = [Math.min(0, min), Math.max(0, max)];
    const above = (high - low) * 0.08 || 1;
    return [low < 0 ? low - above : 0, high > 0 ? high + above : 0];
  }
  const room = max > min ? (max - min) * 0.08 : Math.max(Math.abs(max) * 0.05, 0.5);
  return [min - room, max + room];
}

/** The same width for most charts; wider when a number would lose its first digits, and so be wrong. */
function axisWidth(ctx: CanvasRenderingContext2D, texts: readonly string[]): number {
  ctx.save();
  ctx.font = FONT;
  const widest = Math.max(0, ...texts.map((text) => ctx.measureText(text).width));
  ctx.restore();
  return Math.max(AXIS_WIDTH, Math.ceil(widest) + BESIDE_TEXT);
}

/** The part of a name that fits beside the axis. */
function fittingName(ctx: CanvasRenderingContext2D, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  ctx.save();
  ctx.font = FONT;
  const fits = (text: string): boolean => ctx.measureText(text).width <= AXIS_WIDTH - BESIDE_TEXT;
  let text = name.slice(0, MOST_LETTERS);
  let shown = name.length > MOST_LETTERS ? `${text}…` : name;
  while (text !== '' && !fits(shown)) {
    text = text.slice(0, -1);
    shown = `${text}…`;
  }
  ctx.restore();
  return shown;
}

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisWidth, fittingName, FONT, widthOf } from './axis-text.ts';
import { color, type ColorName, faint, onColors } from './chart-colors.ts';
import { drawForgotten, drawStates, drawTimes } from './draw-marks.ts';
import { followFingers } from './follow-fingers.ts';
import { followKeys } from './follow-keys.ts';
import type { Stretch } from './gestured-range.ts';
import {
  DOT_EVERY,
  joined,
  nearestIndex,
  type OtherSeries,
  placeOf,
  shapeOfOthers,
  uplotSeries,
} from './other-series.ts';
import { drawReferences, type Reference, spanOf } from './references.ts';
import { zoneName } from '../time/local-time.ts';
import { sampleLabels, timeLabels } from './time-axis.ts';
import { numberText } from '../parts/value-text.ts';
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
  /** Lines of other fields, times or devices. */
  others?: readonly OtherSeries[] | undefined;
  /** Times (Unix seconds) that are marked, as of notes. */
  marked?: readonly number[] | undefined;
  /** The time (ms) before which values are no longer kept. */
  keptFrom?: number | null | undefined;
  /** The colour of a state; null: that of the line. */
  stateColor?: ((value: number) => ColorName | null) | undefined;
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
  const { label, data, from, to, shape, names, height = HEIGHT, color: ink = 'series-1', syncKey, keptFrom } = props;
  const { others = NO_OTHERS } = props;
  const [isBars, isRead, shapes] = [shape === 'bar', props.onCursor !== undefined, shapeOfOthers(others)];
  const [rows, marks] = [names?.join('\n'), props.marked?.join()];
  useEffect(() => {
    const element = host.current!;
    const sizeOf = (): Size => ({ width: element.clientWidth, height: element.clientHeight });
    const empty = [[], [], [], [], ...others.map(() => [])] as unknown as uPlot.AlignedData;
    const made = new uPlot(optionsOf(latest, sizeOf(), { isBars, ink, syncKey, others }), empty, element);
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
  }, [isBars, isRead, ink, syncKey, shapes]);
  useEffect(() => {
    const drawn = chart.current!;
    const { timestamps, values, band } = data;
    for (const edge of EDGES)
      if (drawn.series[edge]!.show !== (band !== undefined)) drawn.setSeries(edge, { show: band !== undefined });
    const own = [timestamps, values, band?.low ?? [], band?.high ?? []] as unknown as uPlot.AlignedData;
    drawn.setData(joined(own, others));
  }, [data, from, to, shape, isRead, ink, syncKey, rows, others, shapes, props.references, marks, keptFrom]);
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

const NO_OTHERS: readonly OtherSeries[] = [];

interface Fixed {
  isBars: boolean;
  ink: ColorName;
  syncKey: string;
  others: readonly OtherSeries[];
}

function optionsOf(latest: { current: TimeChartProps }, size: Size, fixed: Fixed): uPlot.Options {
  const { isBars, ink, syncKey, others } = fixed;
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
    // The label under the last mark is as far right of the chart as half of it.
    padding: [8, () => widthOf(sampleLabels(latest.current)) / 2 + 1, 0, 0],
    legend: { show: false },
    cursor: {
      sync: {
        key: syncKey,
        scales: ['x', null],
        // Dragging stays within one chart.
        filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave', sub: () => true },
      },
      y: false,
      dataIdx: (drawn, series, at) => (others.length === 0 ? at : nearestIndex(drawn.data[series]!, at)),
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
      own: { range: (_chart, min, max) => rangeOf(min, max, undefined, 'line') },
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
      ...ownAxis(others),
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
      ...uplotSeries(others),
    ],
    bands: [{ series: [EDGES[1], EDGES[0]], fill: () => faint(ink, 0.18) }],
    hooks: {
      drawClear: [(drawn) => drawForgotten(drawn, latest.current.keptFrom)],
      draw: [
        (drawn) => {
          drawStates(drawn, latest.current.stateColor);
          drawReferences(drawn, latest.current.references);
          drawTimes(drawn, latest.current.marked);
        },
      ],
      setCursor: [
        ({ cursor, data: [times] }) => latest.current.onCursor?.(ownIndex(latest.current, cursor.idx, times)),
      ],
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

/** The index of the chart's own value under the cursor, whose place is among the times of all lines. */
function ownIndex(
  { data, others = NO_OTHERS }: TimeChartProps,
  at: number | null | undefined,
  times: ArrayLike<number>,
): UnderCursor {
  if (at == null || others.length === 0) return at ?? null;
  return placeOf(data.timestamps, times[at] ?? 0);
}

/** The axis of a line that has one of its own. */
function ownAxis(others: readonly OtherSeries[]): uPlot.Axis[] {
  const ink = others.find(({ axis }) => axis === 'own')?.color;
  if (ink === undefined) return [];
  return [
    {
      scale: 'own',
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- constants of a declaration have no values
      side: 1,
      stroke: () => color(ink),
      grid: { show: false },
      ticks: { stroke: () => color('line'), width: 1, size: 4 },
      font: FONT,
      size: (chart, texts: string[] | null) => axisWidth(chart.ctx, texts ?? []),
      splits: (_chart, _axis, min, max, step) => valueMarks(min, max, step),
      values: (_chart, splits) => splits.map(numberText),
    },
  ];
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

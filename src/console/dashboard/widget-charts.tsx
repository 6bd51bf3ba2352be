import { useMemo } from 'preact/hooks';
import { LINE_COLORS } from '../chart/chart-colors.ts';
import { type Columns, type LivePoint, mergeValues } from '../chart/merge-values.ts';
import type { OtherSeries } from '../chart/other-series.ts';
import { levelLine, type Reference } from '../chart/references.ts';
import { showGaps } from '../chart/show-gaps.ts';
import { type ChartData, TimeChart } from '../chart/time-chart.tsx';
import { Compared } from '../fields/compared.tsx';
import { displayOf, shownText } from '../fields/display.ts';
import { barsShow } from '../fields/meanings.ts';
import { Note } from '../parts/note.tsx';
import { type MeasuredValue, numberText } from '../parts/value-text.ts';
import { barWidth } from './bar-width.ts';
import { type DashboardSeries, pointsOfEach, useDashboardHistory } from './use-dashboard-history.ts';
import { valueKey } from './use-pushed-values.ts';
import { aggregationOf, lineColor, type Options, optionsOf, type Threshold, widgetText } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';
import { type DashboardField, rangeMs, type Widget } from './widgets.ts';

type Value = Exclude<MeasuredValue, null>;

/** Points of all charts of a widget together. */
const POINTS = 4_000;
const LOWEST = 96;
const NONE: readonly never[] = [];
/** Height of the names below a chart of several devices. */
const LEGEND = 24;

/**
 * Charts of a widget's fields: lines of up to six devices in one, bars and states of each device by itself. They move on
 * with arriving values.
 */
export function WidgetCharts({ widget, devices, fields, live, height }: WidgetProps) {
  const isBars = widget.kind === 'bar';
  const options = optionsOf(widget);
  const bar = options.width === undefined ? barWidth(rangeMs(widget.range)) : ownBar(options.width);
  const points = pointsOfEach(POINTS, devices.length * fields.length);
  const aggregation = aggregationOf(widget) ?? barsShow(fields.map(({ meaning }) => meaning));
  const how = isBars ? { resolution: bar.resolution, aggregation } : { points };
  // Fetch one bar more than shown: the first one is cut off where the range begins.
  const before = isBars ? bar.ms : 0;
  const { series, error, from, now } = useDashboardHistory({ widget, devices, fields, live, how, before });
  const found = new Map((series ?? []).map((one) => [valueKey(one.deviceId, one.field), one]));
  const of: readonly Shown[] = devices.length === 0 ? [{ id: null, name: '' }] : devices;
  const charts = fields.flatMap((one) =>
    alike(of, one).flatMap(({ field, shown }) => {
      const size = togetherOf(widget, field);
      return Array.from({ length: Math.ceil(shown.length / size) }, (_, at) => ({
        field,
        shown: shown.slice(at * size, (at + 1) * size),
      }));
    }),
  );
  return (
    <>
      {error !== null && <Note kind="error">{error}</Note>}
      {charts.map(({ field, shown }) => {
        const own = nameOf(field);
        const names = shown.map(({ name }) => name).join(', ');
        const whole = `${names}, ${own}`;
        return (
          <figure key={valueKey(shown[0]?.id ?? null, field.identifier)}>
            {/* Several are named below their chart. */}
            {of.length > 1 && (shown.length === 1 || fields.length > 1) && (
              <figcaption class="hint">{shown.length > 1 ? own : fields.length > 1 ? whole : names}</figcaption>
            )}
            <FieldChart
              label={of.length > 1 ? whole : own}
              field={field}
              kind={widget.kind}
              lines={shown.map(({ id, name }) => {
                const key = valueKey(id, field.identifier);
                return { name, series: found.get(key) ?? null, pushed: live.pushed.get(key) ?? NONE };
              })}
              from={from}
              now={now}
              barMs={bar.ms}
              options={options}
              height={Math.max(LOWEST, Math.floor(height / charts.length))}
            />
          </figure>
        );
      })}
    </>
  );
}

type Shown = Omit<WidgetProps['devices'][number], 'id'> & { id: string | null };

/** The devices by how their products have the field: only values of one type, unit and display share an axis. */
function alike(devices: readonly Shown[], field: DashboardField): { field: DashboardField; shown: Shown[] }[] {
  const groups = new Map<string, { field: DashboardField; shown: Shown[] }>();
  for (const device of devices) {
    const own = device.own?.find(({ identifier }) => identifier === field.identifier) ?? field;
    const key = JSON.stringify([own.type, own.unit, own.display]);
    const group = groups.get(key) ?? { field: own, shown: [] };
    group.shown.push(device);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Number of devices in one chart: as many as there are colours, where their values are lines. */
function togetherOf({ kind }: Widget, { type }: DashboardField): number {
  return kind === 'bar' || type === 'BOOLEAN' ? 1 : LINE_COLORS.length;
}

function nameOf({ name, identifier }: DashboardField): string {
  return name ?? identifier;
}

function ownBar(width: string): { resolution: string; ms: number } {
  return { resolution: width, ms: rangeMs(width) };
}

interface Line {
  name: string;
  series: DashboardSeries | null;
  pushed: readonly LivePoint<Value>[];
}

interface FieldChartProps {
  label: string;
  field: DashboardField;
  kind: Widget['kind'];
  /** Of each device of the chart. */
  lines: readonly Line[];
  from: number;
  now: number;
  barMs: number;
  options: Options;
  height: number;
}

const NOBODY = (): void => {};
const NOTHING: ChartData = { timestamps: [], values: [] };

function FieldChart({ label, field, kind, lines, from, now, barMs, options, height }: FieldChartProps) {
  const { type, display } = field;
  const { thresholds } = options;
  const decimals = options.decimals ?? displayOf({ display }).decimals;
  const all = useMemo(
    () =>
      lines.map(({ name, series, pushed }, at): OtherSeries => {
        const { timestamps, values } = series === null ? NOTHING : chartData(series, pushed);
        return { name, color: LINE_COLORS[at] ?? 'series-1', axis: 'same', timestamps, values };
      }),
    lines.flatMap(({ name, series, pushed }) => [name, series, pushed]),
  );
  const [data = NOTHING, ...others] = all;
  const isSeveral = others.length > 0;
  const resolution = lines[0]?.series?.resolution;
  const isBars = kind === 'bar';
  const isState = type === 'BOOLEAN' && resolution === null;
  // Show the present, unfinished bar as a whole.
  const end = isBars ? Math.max(now, (data.timestamps.at(-1) ?? 0) * 1_000 + barMs) : now;
  const begin = from + end - now;
  const references = useMemo(
    () => (isState ? undefined : thresholds?.flatMap((one) => levelOf(one, begin, end))),
    [thresholds, isState, begin, end],
  );
  const last = isSeveral
    ? all.map((line) => `${line.name} ${newestText(line, field, options)}`).join(', ')
    : newestText(data, field, options);
  const chart = (
    <TimeChart
      label={`${label} over time, last ${last}`}
      data={data}
      others={isSeveral ? others : undefined}
      from={begin}
      to={end}
      shape={isBars ? 'bar' : isState ? 'step' : kind === 'area' && !isSeveral ? 'area' : 'line'}
      names={isState ? [false, true].map((one) => shownText(one, field)) : undefined}
      text={decimals === undefined ? numberText : (value) => shownText(value, { unit: null, display: { decimals } })}
      references={references}
      height={height - (isSeveral ? LEGEND : 0)}
      syncKey="dashboard"
      onZoom={NOBODY}
      onBack={NOBODY}
    />
  );
  if (!isSeveral) return chart;
  return (
    <>
      {chart}
      <Compared others={all} time={end / 1_000} field={field} />
    </>
  );
}

function newestText({ values }: ChartData, field: DashboardField, options: Options): string {
  return widgetText(
    values.findLast((value) => value !== null),
    field,
    options,
  );
}

function levelOf({ above, below, color }: Threshold, from: number, to: number): Reference[] {
  const level = above ?? below;
  return level === undefined ? [] : [levelLine(level, { from, to }, { color: lineColor(color), weight: 'strong' })];
}

/** Fetched and pushed values; for buckets only the fetched ones. The value before the range leads into it. */
function chartData(
  { resolution, before, ...columns }: DashboardSeries,
  pushed: readonly LivePoint<Value>[],
): ChartData {
  if (resolution !== null) return numbers(columns);
  const start = before === null ? null : Date.parse(before.timestamp) / 1_000;
  const carried =
    before === null || start === null || (columns.timestamps[0] ?? Infinity) <= start
      ? columns
      : { timestamps: [start, ...columns.timestamps], values: [before.value, ...columns.values] };
  return numbers(showGaps(mergeValues(carried, pushed)));
}

function numbers({ timestamps, values }: Columns<Value>): ChartData {
  return {
    timestamps,
    values: values.map((value) => (value === null || typeof value === 'string' ? null : Number(value))),
  };
}

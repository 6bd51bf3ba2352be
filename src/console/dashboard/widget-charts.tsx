import { useMemo } from 'preact/hooks';
import { type Columns, type LivePoint, mergeValues } from '../chart/merge-values.ts';
import { levelLine, type Reference } from '../chart/references.ts';
import { showGaps } from '../chart/show-gaps.ts';
import { type ChartData, TimeChart } from '../chart/time-chart.tsx';
import { displayOf, shownText } from '../fields/display.ts';
import { barsShow } from '../fields/meanings.ts';
import { Note } from '../parts/note.tsx';
import { type MeasuredValue, numberText } from '../parts/value-text.ts';
import { barWidth } from './bar-width.ts';
import { type DashboardSeries, useDashboardHistory } from './use-dashboard-history.ts';
import { valueKey } from './use-pushed-values.ts';
import { aggregationOf, lineColor, type Options, optionsOf, type Threshold, widgetText } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';
import { type DashboardField, rangeMs, type Widget } from './widgets.ts';

type Value = Exclude<MeasuredValue, null>;

/** Points of all charts of a widget together, and the least of each. */
const POINTS = 4_000;
const MOST_POINTS = 800;
const LEAST_POINTS = 60;
const LOWEST = 96;
const NONE: readonly never[] = [];

/** Charts of a widget's fields, as lines, filled areas or bars, one for each device. They move on with arriving values. */
export function WidgetCharts({ widget, devices, fields, live, height }: WidgetProps) {
  const isBars = widget.kind === 'bar';
  const options = optionsOf(widget);
  const bar = options.width === undefined ? barWidth(rangeMs(widget.range)) : ownBar(options.width);
  const many = Math.max(1, devices.length * fields.length);
  const points = Math.max(LEAST_POINTS, Math.min(MOST_POINTS, Math.floor(POINTS / many)));
  const aggregation = aggregationOf(widget) ?? barsShow(fields.map(({ meaning }) => meaning));
  const how = isBars ? { resolution: bar.resolution, aggregation } : { points };
  // Fetch one bar more than shown: the first one is cut off where the range begins.
  const before = isBars ? bar.ms : 0;
  const { series, error, from, now } = useDashboardHistory({ widget, devices, fields, live, how, before });
  const found = new Map((series ?? []).map((one) => [valueKey(one.deviceId, one.field), one]));
  const of: readonly { id: string | null; name: string }[] = devices.length === 0 ? [{ id: null, name: '' }] : devices;
  return (
    <>
      {error !== null && <Note kind="error">{error}</Note>}
      {of.flatMap(({ id, name }) =>
        fields.map((field) => {
          const key = valueKey(id, field.identifier);
          return (
            <figure key={key}>
              {of.length > 1 && (
                <figcaption class="hint">{fields.length > 1 ? `${name}, ${nameOf(field)}` : name}</figcaption>
              )}
              <FieldChart
                label={of.length > 1 ? `${name}, ${nameOf(field)}` : nameOf(field)}
                field={field}
                kind={widget.kind}
                series={found.get(key) ?? null}
                pushed={live.pushed.get(key) ?? NONE}
                from={from}
                now={now}
                barMs={bar.ms}
                options={options}
                height={Math.max(LOWEST, Math.floor(height / many))}
              />
            </figure>
          );
        }),
      )}
    </>
  );
}

function nameOf({ name, identifier }: DashboardField): string {
  return name ?? identifier;
}

function ownBar(width: string): { resolution: string; ms: number } {
  return { resolution: width, ms: rangeMs(width) };
}

interface FieldChartProps {
  label: string;
  field: DashboardField;
  kind: Widget['kind'];
  series: DashboardSeries | null;
  pushed: readonly LivePoint<Value>[];
  from: number;
  now: number;
  barMs: number;
  options: Options;
  height: number;
}

const NOBODY = (): void => {};
const NOTHING: ChartData = { timestamps: [], values: [] };

function FieldChart({ label, field, kind, series, pushed, from, now, barMs, options, height }: FieldChartProps) {
  const { type, display } = field;
  const { thresholds } = options;
  const decimals = options.decimals ?? displayOf({ display }).decimals;
  const data = useMemo(() => (series === null ? NOTHING : chartData(series, pushed)), [series, pushed]);
  const isBars = kind === 'bar';
  const isState = type === 'BOOLEAN' && series?.resolution === null;
  const last = data.values.findLast((value) => value !== null);
  // Show the present, unfinished bar as a whole.
  const end = isBars ? Math.max(now, (data.timestamps.at(-1) ?? 0) * 1_000 + barMs) : now;
  const begin = from + end - now;
  const references = useMemo(
    () => (isState ? undefined : thresholds?.flatMap((one) => levelOf(one, begin, end))),
    [thresholds, isState, begin, end],
  );
  return (
    <TimeChart
      label={`${label} over time, last ${widgetText(last, field, options)}`}
      data={data}
      from={begin}
      to={end}
      shape={isBars ? 'bar' : isState ? 'step' : kind === 'area' ? 'area' : 'line'}
      names={isState ? [false, true].map((one) => shownText(one, field)) : undefined}
      text={decimals === undefined ? numberText : (value) => shownText(value, { unit: null, display: { decimals } })}
      references={references}
      height={height}
      syncKey="dashboard"
      onZoom={NOBODY}
      onBack={NOBODY}
    />
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

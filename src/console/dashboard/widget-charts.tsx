import { useMemo } from 'preact/hooks';
import { useQuery } from '../api/use-query.ts';
import { type Columns, type LivePoint, mergeValues } from '../chart/merge-values.ts';
import { showGaps } from '../chart/show-gaps.ts';
import { type ChartData, TimeChart } from '../chart/time-chart.tsx';
import { barsShow } from '../fields/meanings.ts';
import { Note } from '../parts/note.tsx';
import { type MeasuredValue, numberText, valueText } from '../parts/value-text.ts';
import { zoneName } from '../time/local-time.ts';
import { barWidth } from './bar-width.ts';
import { DashboardHistory } from './dashboard.graphql.ts';
import { useMovingSpan } from './use-moving-span.ts';
import type { DashboardLive } from './use-pushed-values.ts';
import { aggregationOf, type DashboardField, rangeMs, type Widget } from './widgets.ts';

type Value = Exclude<MeasuredValue, null>;

interface Series extends Columns<Value> {
  /** Width of the buckets; null: single values. */
  resolution: string | null;
  before: { timestamp: string; value: Value } | null;
}

const POINTS = 800;
const LOWEST = 96;
const NONE: readonly never[] = [];

interface WidgetChartsProps {
  widget: Widget;
  deviceId: string | null;
  /** The fields of the widget. */
  fields: readonly DashboardField[];
  live: DashboardLive;
  /** Height of all charts together, in pixels. */
  height: number;
}

/** Charts of a widget's fields, as lines, filled areas or bars. They move on with arriving values. */
export function WidgetCharts({ widget, deviceId, fields, live, height }: WidgetChartsProps) {
  const span = rangeMs(widget.range);
  const isBars = widget.kind === 'bar';
  const { asked, now } = useMovingSpan(span, live, isBars);
  const bar = barWidth(span);
  // Fetch one bar more than shown: the first one is cut off where the range begins.
  const from = asked - span - (isBars ? bar.ms : 0);
  const aggregation = aggregationOf(widget) ?? barsShow(fields.map(({ meaning }) => meaning));
  const how = isBars ? { resolution: bar.resolution, aggregation } : { points: POINTS };
  const { data, error } = useQuery(
    DashboardHistory,
    deviceId === null
      ? null
      : {
          id: deviceId,
          fields: fields.map(({ identifier }) => identifier),
          from: new Date(from).toISOString(),
          to: new Date(asked + 1).toISOString(),
          timeZone: zoneName(),
          ...how,
        },
  );
  const found = new Map((data?.device.history ?? []).map((series) => [series.field.identifier, series]));
  return (
    <>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {fields.map((field) => (
        <FieldChart
          key={field.identifier}
          field={field}
          kind={widget.kind}
          series={found.get(field.identifier) ?? null}
          pushed={live.pushed.get(field.identifier) ?? NONE}
          from={now - span}
          now={now}
          barMs={bar.ms}
          height={Math.max(LOWEST, Math.floor(height / fields.length))}
        />
      ))}
    </>
  );
}

interface FieldChartProps {
  field: DashboardField;
  kind: Widget['kind'];
  series: Series | null;
  pushed: readonly LivePoint<Value>[];
  from: number;
  now: number;
  barMs: number;
  height: number;
}

const NOBODY = (): void => {};
const NOTHING: ChartData = { timestamps: [], values: [] };

function FieldChart({ field, kind, series, pushed, from, now, barMs, height }: FieldChartProps) {
  const { identifier, name, unit, type } = field;
  const data = useMemo(() => (series === null ? NOTHING : chartData(series, pushed)), [series, pushed]);
  const isBars = kind === 'bar';
  const isState = type === 'BOOLEAN' && series?.resolution === null;
  const last = data.values.findLast((value) => value !== null);
  // Show the present, unfinished bar as a whole.
  const end = isBars ? Math.max(now, (data.timestamps.at(-1) ?? 0) * 1_000 + barMs) : now;
  return (
    <TimeChart
      label={`${name ?? identifier} over time, last ${valueText(last, unit)}`}
      data={data}
      from={from + end - now}
      to={end}
      shape={isBars ? 'bar' : isState ? 'step' : kind === 'area' ? 'area' : 'line'}
      names={isState ? STATES : undefined}
      text={numberText}
      height={height}
      syncKey="dashboard"
      onZoom={NOBODY}
      onBack={NOBODY}
    />
  );
}

const STATES = ['false', 'true'];

/** Fetched and pushed values; for buckets only the fetched ones. The value before the range leads into it. */
function chartData({ resolution, before, ...columns }: Series, pushed: readonly LivePoint<Value>[]): ChartData {
  if (resolution !== null) return numbers(columns);
  const start = before === null ? null : Date.parse(before.timestamp) / 1_000;
  const carried =
    start === null || (columns.timestamps[0] ?? Infinity) <= start
      ? columns
      : { timestamps: [start, ...columns.timestamps], values: [before!.value, ...columns.values] };
  return numbers(showGaps(mergeValues(carried, pushed)));
}

function numbers({ timestamps, values }: Columns<Value>): ChartData {
  return {
    timestamps,
    values: values.map((value) => (value === null || typeof value === 'string' ? null : Number(value))),
  };
}

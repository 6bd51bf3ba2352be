import { useMemo } from 'preact/hooks';
import { useQuery } from '../api/use-query.ts';
import { type ChartData, TimeChart } from '../chart/time-chart.tsx';
import { TimeAgo } from '../parts/time-ago.tsx';
import { type MeasuredValue, numberText, valueText } from '../parts/value-text.ts';
import { zoneName } from '../time/local-time.ts';
import { DashboardHistory } from './dashboard.graphql.ts';
import { rangeMs, type Widget } from './widgets.ts';

/** A field as widgets need it. */
export interface DashboardField {
  identifier: string;
  name: string | null;
  unit: string | null;
}

/** The latest value of a field. */
interface LatestOne {
  value: Exclude<MeasuredValue, null>;
  timestamp: string;
}

interface WidgetViewProps {
  widget: Widget;
  deviceId: string | null;
  fields: readonly DashboardField[];
  latest: ReadonlyMap<string, LatestOne>;
  /** Of the widget's inside, in pixels. */
  height: number;
}

/** What a widget shows of a device. */
export function WidgetView(props: WidgetViewProps) {
  const { widget, fields, latest } = props;
  const [first = ''] = widget.fields;
  const unit = fields.find(({ identifier }) => identifier === first)?.unit ?? null;
  const one = latest.get(first);
  switch (widget.kind) {
    case 'line':
    case 'area':
    case 'bar':
      return <WidgetCharts {...props} />;
    case 'gauge':
      return <Gauge value={one?.value} unit={unit} options={widget.options ?? {}} />;
    case 'table':
      return (
        <dl class="widget-table">
          {widget.fields.map((identifier) => {
            const field = fields.find((known) => known.identifier === identifier);
            return (
              <div key={identifier}>
                <dt>{field?.name ?? identifier}</dt>
                <dd>{valueText(latest.get(identifier)?.value, field?.unit ?? null)}</dd>
              </div>
            );
          })}
        </dl>
      );
    case 'map':
      return <PlaceMap value={one?.value} />;
    default:
      return (
        <p class="widget-value" data-kind={widget.kind}>
          <strong>{valueText(one?.value, unit)}</strong>
          <small>
            <TimeAgo at={one?.timestamp ?? null} />
          </small>
        </p>
      );
  }
}

const NOBODY = (): void => {};

function WidgetCharts({ widget, deviceId, fields, height }: WidgetViewProps) {
  const [from, to] = useMemo(() => {
    const now = Date.now();
    return [now - rangeMs(widget.range), now];
  }, [widget.range]);
  const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), timeZone: zoneName() };
  const { data } = useQuery(
    DashboardHistory,
    deviceId === null ? null : { id: deviceId, fields: widget.fields, ...times },
  );
  const charts = useMemo(
    () => (data?.device.history ?? []).map(({ field, ...columns }) => ({ field, data: chartData(columns) })),
    [data],
  );
  return (
    <>
      {charts.map(({ field: { identifier }, data: drawn }) => (
        <TimeChart
          key={identifier}
          label={fields.find((known) => known.identifier === identifier)?.name ?? identifier}
          data={drawn}
          from={from}
          to={to}
          shape="line"
          text={numberText}
          height={Math.max(96, Math.floor(height / charts.length))}
          syncKey="dashboard"
          onCursor={NOBODY}
          onZoom={NOBODY}
          onBack={NOBODY}
        />
      ))}
    </>
  );
}

function chartData({
  timestamps,
  values,
}: {
  timestamps: number[];
  values: (number | string | boolean | null)[];
}): ChartData {
  return {
    timestamps,
    values: values.map((value) => (value === null || typeof value === 'string' ? null : Number(value))),
  };
}

const RADIUS = 40;

function Gauge({ value, unit, options }: { value: MeasuredValue | undefined; unit: string | null; options: object }) {
  const { min, max } = { min: 0, max: 100, ...options } as { min: number; max: number };
  const part = typeof value === 'number' ? Math.min(1, Math.max(0, (value - min) / (max - min || 1))) : 0;
  const angle = Math.PI * (1 - part);
  const end = `${50 + RADIUS * Math.cos(angle)} ${50 - RADIUS * Math.sin(angle)}`;
  return (
    <svg class="gauge" viewBox="0 0 100 64" role="img" aria-label={valueText(value, unit)}>
      <path d={`M${50 - RADIUS} 50A${RADIUS} ${RADIUS} 0 0 1 ${50 + RADIUS} 50`} class="gauge-ground" />
      <path d={`M${50 - RADIUS} 50A${RADIUS} ${RADIUS} 0 0 1 ${end}`} class="gauge-part" />
      <text x="50" y="48">
        {valueText(value, unit)}
      </text>
      <text x="10" y="62" class="gauge-end">
        {numberText(min)}
      </text>
      <text x="90" y="62" class="gauge-end">
        {numberText(max)}
      </text>
    </svg>
  );
}

/** The globe without tiles: lines of latitude and longitude around the place, and where it is on them. */
function PlaceMap({ value }: { value: MeasuredValue | undefined }) {
  const found = typeof value === 'string' ? /^\((-?[\d.]+),\s*(-?[\d.]+)\)$/.exec(value) : null;
  if (found === null) return <p class="hint">No place yet.</p>;
  const [latitude, longitude] = [Number(found[1]), Number(found[2])];
  const [x, y] = [longitude + 180, 90 - latitude];
  const meridians = Array.from({ length: 11 }, (_, at) => (at + 1) * 30);
  const parallels = Array.from({ length: 5 }, (_, at) => (at + 1) * 30);
  return (
    <>
      <svg class="place-map" viewBox="0 0 360 180" role="img" aria-label={`At ${value as string}`}>
        <rect width="360" height="180" rx="6" />
        {meridians.map((at) => (
          <path key={`m${at}`} d={`M${at} 0V180`} data-main={at === 180} />
        ))}
        {parallels.map((at) => (
          <path key={`p${at}`} d={`M0 ${at}H360`} data-main={at === 90} />
        ))}
        <circle cx={x} cy={y} r="5" />
      </svg>
      <small class="mono">
        {Math.abs(latitude)}° {latitude < 0 ? 'S' : 'N'}, {Math.abs(longitude)}° {longitude < 0 ? 'W' : 'E'}
      </small>
    </>
  );
}

import { placeText, readPlace } from '../map/place.ts';
import { TimeAgo } from '../parts/time-ago.tsx';
import { type MeasuredValue, numberText, valueText } from '../parts/value-text.ts';
import type { DashboardLive } from './use-pushed-values.ts';
import { WidgetCharts } from './widget-charts.tsx';
import type { DashboardField, Widget } from './widgets.ts';

interface WidgetViewProps {
  widget: Widget;
  deviceId: string | null;
  fields: readonly DashboardField[];
  live: DashboardLive;
  /** Height inside the widget, in pixels. */
  height: number;
}

/** The content of a widget for a device. */
export function WidgetView(props: WidgetViewProps) {
  const { widget, live } = props;
  const { latest } = live;
  const fields = widget.fields.flatMap((wanted) => props.fields.find(({ identifier }) => identifier === wanted) ?? []);
  const [first] = fields;
  if (first === undefined) return <p class="hint">The product has no field {widget.fields.join(', ')} (any more).</p>;
  const { unit } = first;
  const one = latest.get(first.identifier);
  switch (widget.kind) {
    case 'line':
    case 'area':
    case 'bar':
      // Remount for another device, whose data is not fetched yet.
      return <WidgetCharts key={props.deviceId} {...props} fields={fields} />;
    case 'gauge':
      return <Gauge value={one?.value} unit={unit} options={widget.options ?? {}} />;
    case 'table':
      return (
        <dl class="widget-table">
          {fields.map(({ identifier, name, unit: own }) => (
            <div key={identifier}>
              <dt>{name ?? identifier}</dt>
              <dd>{valueText(latest.get(identifier)?.value, own)}</dd>
            </div>
          ))}
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

/** A globe without tiles: lines of latitude and longitude, and the place on them. */
function PlaceMap({ value }: { value: MeasuredValue | undefined }) {
  const place = readPlace(value);
  if (place === null) return <p class="hint">No place yet.</p>;
  const [x, y] = [place.longitude + 180, 90 - place.latitude];
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
      <small class="mono">{placeText(place)}</small>
    </>
  );
}

import { type MeasuredValue, numberText } from '../parts/value-text.ts';
import { type Options, optionsOf, widgetColor, widgetText } from './widget-options.ts';
import { shownOf } from './widget-values.tsx';
import type { WidgetProps } from './widget-props.ts';
import type { DashboardField } from './widgets.ts';

/** A gauge of each field of each device. */
export function WidgetGauges({ widget, devices, fields, live }: WidgetProps) {
  const shown = shownOf(devices, fields);
  return (
    <div class="gauges" data-many={shown.length > 1}>
      {shown.map(({ key, field, name }) => (
        <Gauge key={key} name={name} value={live.latest.get(key)?.value} field={field} options={optionsOf(widget)} />
      ))}
    </div>
  );
}

const RADIUS = 40;
/** Maximum width of the value's text, in units of the drawing. */
const WIDEST = 58;
const WIDTH_OF_A_LETTER = 7.4;

interface GaugeProps {
  name: string | null;
  value: MeasuredValue | undefined;
  field: DashboardField;
  options: Options;
}

function Gauge({ name, value, field, options }: GaugeProps) {
  const { min = 0, max = 100, thresholds } = options;
  const partOf = (at: number): number => Math.min(1, Math.max(0, (at - min) / (max - min || 1)));
  const part = typeof value === 'number' ? partOf(value) : 0;
  const text = widgetText(value, field, options);
  return (
    <figure>
      <svg class="gauge" viewBox="0 0 100 64" role="img" aria-label={name === null ? text : `${name}: ${text}`}>
        <path d={arc(0, 1)} class="gauge-ground" />
        <path d={arc(0, part)} class="gauge-part" data-color={widgetColor(value, field, options)} />
        {thresholds?.map(({ above, below, color }, index) => {
          const at = partOf(above ?? below ?? min);
          return <path key={index} d={mark(at)} class="gauge-mark" data-color={color} />;
        })}
        <text
          x="50"
          y="48"
          textLength={text.length * WIDTH_OF_A_LETTER > WIDEST ? WIDEST : undefined}
          lengthAdjust="spacingAndGlyphs"
        >
          {text}
        </text>
        <text x="10" y="62" class="gauge-end">
          {numberText(min)}
        </text>
        <text x="90" y="62" class="gauge-end">
          {numberText(max)}
        </text>
      </svg>
      {name !== null && <figcaption>{name}</figcaption>}
    </figure>
  );
}

/** A part of the half circle, from 0 at the left to 1 at the right. */
function arc(from: number, to: number): string {
  return `M${pointAt(from, RADIUS)}A${RADIUS} ${RADIUS} 0 0 1 ${pointAt(to, RADIUS)}`;
}

/** A stroke across the half circle. */
function mark(at: number): string {
  return `M${pointAt(at, RADIUS - 6)}L${pointAt(at, RADIUS + 6)}`;
}

function pointAt(part: number, radius: number): string {
  const angle = Math.PI * (1 - part);
  return `${50 + radius * Math.cos(angle)} ${50 - radius * Math.sin(angle)}`;
}

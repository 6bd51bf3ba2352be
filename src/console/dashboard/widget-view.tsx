import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DashboardLive } from './use-pushed-values.ts';
import type { WidgetProps } from './widget-props.ts';
import { WidgetCharts } from './widget-charts.tsx';
import { WidgetGauges } from './widget-gauges.tsx';
import { optionsOf } from './widget-options.ts';
import { LatestTable, TimeTable } from './widget-table.tsx';
import { WidgetText } from './widget-text.tsx';
import { WidgetValues } from './widget-values.tsx';
import { kindOf, type Widget, type WidgetScope } from './widgets.ts';

interface WidgetViewProps {
  widget: Widget;
  scope: WidgetScope;
  live: DashboardLive;
  height: number;
}

const KINDS: Record<Exclude<Widget['kind'], 'text'>, (props: WidgetProps) => preact.JSX.Element> = {
  line: WidgetCharts,
  area: WidgetCharts,
  bar: WidgetCharts,
  gauge: WidgetGauges,
  value: WidgetValues,
  state: WidgetValues,
  table: (props) => (optionsOf(props.widget).rows === 'latest' ? <LatestTable {...props} /> : <TimeTable {...props} />),
  map: LaterMap,
};

/** The map, whose code is loaded by the first widget that needs it. */
function LaterMap(props: WidgetProps) {
  const [Map, setMap] = useState<ComponentType<WidgetProps> | null>(null);
  useEffect(() => {
    import('./widget-map.tsx').then(
      ({ WidgetMap }) => setMap(() => WidgetMap),
      () => {},
    );
  }, []);
  return Map === null ? <p class="hint">Loading the map…</p> : <Map {...props} />;
}

/** The content of a widget for its devices. */
export function WidgetView({ widget, scope, live, height }: WidgetViewProps) {
  const { kind } = widget;
  // A widget that may scroll is reached by keys.
  const isLong = SCROLLED.has(kind) || scope.devices.length > 1 || widget.fields.length > 1;
  const inside = { class: 'widget-inside', tabIndex: isLong ? 0 : undefined };
  if (kind === 'text')
    return (
      <div {...inside}>
        <WidgetText text={optionsOf(widget).text ?? ''} />
      </div>
    );
  const { devices } = scope;
  const known = widget.fields.flatMap((wanted) => scope.fields.find(({ identifier }) => identifier === wanted) ?? []);
  const { types } = kindOf(kind);
  const fields = known.filter(({ type }) => types?.includes(type) !== false);
  const Kind = KINDS[kind];
  return (
    <div {...inside} role={isLong ? 'group' : undefined} aria-label={isLong ? 'Values' : undefined}>
      {known.length === 0 ? (
        <p class="hint">
          {devices.length === 0 && widget.source !== undefined
            ? 'There is no such device (any more).'
            : `The product has no field ${widget.fields.join(', ')} (any more).`}
        </p>
      ) : fields.length === 0 ? (
        <p class="hint">
          {known.map(({ name, identifier }) => name ?? identifier).join(', ')} cannot be shown as{' '}
          {kindOf(kind).text.toLowerCase()}.
        </p>
      ) : (
        // Remount for other devices, whose data is not fetched yet.
        <Kind key={devices.map(({ id }) => id).join(' ')} {...{ widget, devices, fields, live, height }} />
      )}
    </div>
  );
}

/** Kinds that may be longer than their place with a single value. */
const SCROLLED: ReadonlySet<Widget['kind']> = new Set(['table', 'text', 'value', 'state']);

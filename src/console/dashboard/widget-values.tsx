import { TimeAgo } from '../parts/time-ago.tsx';
import { valueKey } from './use-pushed-values.ts';
import { optionsOf, widgetColor, widgetText } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';
import type { DashboardField, WidgetScope } from './widgets.ts';

/** One field of one device, with its name beside others: null for the only one. */
interface Shown {
  key: string;
  field: DashboardField;
  name: string | null;
}

/** Every field of every device; without devices the fields alone, which have no values then. */
export function shownOf(devices: WidgetScope['devices'], fields: readonly DashboardField[]): Shown[] {
  const of: readonly { id: string | null; name: string }[] = devices.length === 0 ? [{ id: null, name: '' }] : devices;
  return of.flatMap(({ id, name }) =>
    fields.map((field) => {
      const parts = [...(of.length > 1 ? [name] : []), ...(fields.length > 1 ? [field.name ?? field.identifier] : [])];
      return { key: valueKey(id, field.identifier), field, name: parts.length === 0 ? null : parts.join(', ') };
    }),
  );
}

/** The latest value of each field of each device: one alone in large, several as a list. */
export function WidgetValues({ widget, devices, fields, live }: WidgetProps) {
  const options = optionsOf(widget);
  const shown = shownOf(devices, fields);
  const [first] = shown;
  if (first !== undefined && shown.length === 1) {
    const one = live.latest.get(first.key);
    return (
      <p class="widget-value" data-kind={widget.kind}>
        <strong data-color={widgetColor(one?.value, first.field, options)}>
          {widgetText(one?.value, first.field, options)}
        </strong>
        <small>
          <TimeAgo at={one?.timestamp ?? null} />
        </small>
      </p>
    );
  }
  return (
    <dl class="widget-list" data-kind={widget.kind}>
      {shown.map(({ key, field, name }) => {
        const one = live.latest.get(key);
        return (
          <div key={key}>
            <dt>{name}</dt>
            <dd>
              <strong data-color={widgetColor(one?.value, field, options)}>
                {widgetText(one?.value, field, options)}
              </strong>
            </dd>
            <dd>
              <small>
                <TimeAgo at={one?.timestamp ?? null} />
              </small>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

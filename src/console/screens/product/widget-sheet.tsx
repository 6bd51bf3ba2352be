import { useState } from 'preact/hooks';
import type { DashboardField } from '../../dashboard/widget-view.tsx';
import { placeBelow, type Widget, WIDGET_KINDS } from '../../dashboard/widgets.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { textsOf } from '../../parts/form-texts.ts';

interface WidgetSheetProps {
  /** null: a new one. */
  widget: Widget | null;
  widgets: readonly Widget[];
  fields: readonly DashboardField[];
  onClose: () => void;
  onDone: (widget: Widget) => void;
}

/** What a widget shows: its kind, its fields, its title and how far back a chart goes. */
export function WidgetSheet({ widget, widgets, fields, onClose, onDone }: WidgetSheetProps) {
  const [kind, setKind] = useState<Widget['kind']>(widget?.kind ?? 'value');
  const { options = {} } = widget ?? {};
  const { min, max } = { min: 0, max: 100, ...options } as { min: number; max: number };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = textsOf(form);
    const chosen = new FormData(form).getAll('field') as string[];
    const { width, height } = WIDGET_KINDS.find((one) => one.kind === kind) ?? { width: 6, height: 4 };
    const [title, range] = [text('title').trim(), text('range').trim()];
    const limits = kind === 'gauge' ? { min: Number(text('min')), max: Number(text('max')) } : {};
    onDone({
      kind,
      fields: chosen,
      place: widget?.place ?? placeBelow(widgets, width, height),
      ...(title === '' ? {} : { title }),
      ...(range === '' ? {} : { range }),
      options: { ...options, ...limits },
    });
  };
  return (
    <Dialog title={widget === null ? 'Add a widget' : 'Change the widget'} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit}>
        <label>
          Kind
          <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Widget['kind'])}>
            {WIDGET_KINDS.map((one) => (
              <option key={one.kind} value={one.kind}>
                {one.text}
              </option>
            ))}
            {!WIDGET_KINDS.some((one) => one.kind === kind) && <option value={kind}>{kind}</option>}
          </select>
        </label>
        <label>
          Fields
          <select
            name="field"
            required
            multiple={kind === 'line' || kind === 'table' || kind === 'area' || kind === 'bar'}
            autofocus
          >
            {fields.map(({ identifier, name }) => (
              <option key={identifier} value={identifier} selected={widget?.fields.includes(identifier)}>
                {name ?? identifier}
              </option>
            ))}
          </select>
        </label>
        <label>
          Title
          <input name="title" maxLength={200} placeholder="The name of the field" defaultValue={widget?.title ?? ''} />
        </label>
        {kind === 'line' && (
          <label>
            How far back
            <input name="range" placeholder="24h" defaultValue={widget?.range ?? '24h'} />
            <small>Such as 90m, 24h, 7d, 1mo or 1y.</small>
          </label>
        )}
        {kind === 'gauge' && (
          <div class="widget-limits">
            <label>
              From
              <input name="min" type="number" step="any" required defaultValue={String(min)} />
            </label>
            <label>
              To
              <input name="max" type="number" step="any" required defaultValue={String(max)} />
            </label>
          </div>
        )}
        <div class="actions">
          <button type="submit" class="primary">
            {widget === null ? 'Add it' : 'Change it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

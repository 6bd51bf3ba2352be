import { useState } from 'preact/hooks';
import {
  aggregationOf,
  BAR_AGGREGATIONS,
  type DashboardField,
  freePlace,
  type Widget,
  WIDGET_KINDS,
} from '../../dashboard/widgets.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { textsOf } from '../../parts/form-texts.ts';
import { Note } from '../../parts/note.tsx';

interface WidgetSheetProps {
  /** The widget to change; null: a new one. */
  widget: Widget | null;
  widgets: readonly Widget[];
  fields: readonly DashboardField[];
  onClose: () => void;
  onDone: (widget: Widget) => void;
}

/** The form of a widget: its kind, fields, title and range. */
export function WidgetSheet({ widget, widgets, fields, onClose, onDone }: WidgetSheetProps) {
  const [kind, setKind] = useState<Widget['kind']>(widget?.kind ?? 'value');
  const { width, height, types, isList = false, isChart = false } = WIDGET_KINDS.find((one) => one.kind === kind)!;
  const { options = {} } = widget ?? {};
  // Keep offering fields that are chosen already.
  const offered = fields.filter(
    ({ identifier, type }) => types?.includes(type) !== false || widget?.fields.includes(identifier) === true,
  );
  const { min, max } = { min: 0, max: 100, ...options } as { min: number; max: number };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = textsOf(form);
    const chosen = new FormData(form).getAll('field') as string[];
    const [title, range] = [text('title').trim(), text('range').trim()];
    const own =
      kind === 'gauge'
        ? { min: Number(text('min')), max: Number(text('max')) }
        : kind === 'bar'
          ? { aggregation: text('aggregation') || undefined }
          : {};
    onDone({
      kind,
      fields: chosen,
      place: widget?.place ?? freePlace(widgets, width, height),
      ...(title === '' ? {} : { title }),
      ...(range === '' ? {} : { range }),
      options: { ...options, ...own },
    });
  };
  return (
    <Dialog title={widget === null ? 'Add a widget' : 'Change the widget'} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit}>
        <label>
          Kind
          <select autofocus value={kind} onChange={(event) => setKind(event.currentTarget.value as Widget['kind'])}>
            {WIDGET_KINDS.map((one) => (
              <option key={one.kind} value={one.kind}>
                {one.text}
              </option>
            ))}
          </select>
        </label>
        {offered.length === 0 ? (
          <Note>The product has no field that can be shown like this.</Note>
        ) : (
          <label>
            {isList ? 'Fields' : 'Field'}
            <select key={String(isList)} name="field" required multiple={isList}>
              {offered.map(({ identifier, name }, index) => (
                <option
                  key={identifier}
                  value={identifier}
                  selected={widget === null ? index === 0 : widget.fields.includes(identifier)}
                >
                  {name ?? identifier}
                </option>
              ))}
            </select>
            {isList && <small>Several with Ctrl or Shift.</small>}
          </label>
        )}
        <label>
          Title
          <input name="title" maxLength={200} placeholder="The name of the field" defaultValue={widget?.title ?? ''} />
        </label>
        {isChart && (
          <label>
            How far back
            <input name="range" placeholder="24h" defaultValue={widget?.range ?? '24h'} />
            <small>Such as 90m, 24h, 7d, 1mo or 1y.</small>
          </label>
        )}
        {kind === 'bar' && (
          <label>
            A bar is the
            <select name="aggregation">
              <option value="">what suits its fields: mean, or increase of a counter</option>
              {BAR_AGGREGATIONS.map(({ aggregation, text }) => (
                <option key={aggregation} value={aggregation} selected={aggregation === aggregationOf({ options })}>
                  {text}
                </option>
              ))}
            </select>
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
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={offered.length === 0}>
            {widget === null ? 'Add it' : 'Change it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

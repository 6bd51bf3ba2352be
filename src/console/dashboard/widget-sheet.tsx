import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog.tsx';
import { textsOf } from '../parts/form-texts.ts';
import { Note } from '../parts/note.tsx';
import { ThresholdInputs, thresholdsIn } from './threshold-inputs.tsx';
import { aggregationOf, BAR_AGGREGATIONS, BAR_WIDTHS, optionsOf, OWN_OPTIONS } from './widget-options.ts';
import { type DashboardField, freePlace, kindOf, type Source, type Widget, WIDGET_KINDS } from './widgets.ts';
import './widget-sheet.css';

interface WidgetSheetProps {
  /** The widget to change; null: a new one. */
  widget: Widget | null;
  widgets: readonly Widget[];
  fields: readonly DashboardField[];
  /** The devices of the widget, where each has its own; left out: all are of one product. */
  source?: { chosen: Source | null; picker: ComponentChildren };
  onClose: () => void;
  onDone: (widget: Widget) => void;
}

const COLORED: ReadonlySet<Widget['kind']> = new Set(['line', 'area', 'bar', 'value', 'gauge', 'state', 'table']);

/** The form of a widget: its kind, devices, fields, title and how it shows them. */
export function WidgetSheet({ widget, widgets, fields, source, onClose, onDone }: WidgetSheetProps) {
  const [kind, setKind] = useState<Widget['kind']>(widget?.kind ?? 'value');
  const { width, height, types, isRanged = false } = kindOf(kind);
  // Keep offering fields that are chosen already.
  const offered = fields.filter(
    ({ identifier, type }) => types?.includes(type) !== false || widget?.fields.includes(identifier) === true,
  );
  const isText = kind === 'text';
  const isMissing = !isText && offered.length === 0;
  const options = optionsOf(widget ?? {});
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = textsOf(form);
    const [title, range] = [text('title').trim(), text('range').trim()];
    const others = Object.entries(widget?.options ?? {}).filter(([name]) => !isOwn(name));
    const own = Object.entries(ownOptions(kind, form)).filter(([, value]) => value !== undefined);
    onDone({
      kind,
      fields: isText ? [] : (new FormData(form).getAll('field') as string[]),
      place: widget?.place ?? freePlace(widgets, width, height),
      ...(title === '' ? {} : { title }),
      ...(range === '' ? {} : { range }),
      ...(own.length + others.length === 0 ? {} : { options: Object.fromEntries([...others, ...own]) }),
      ...(isText || source?.chosen == null ? {} : { source: source.chosen }),
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
        {!isText && source?.picker}
        {isText ? (
          <label>
            Text
            <textarea name="text" required rows={6} maxLength={10_000} defaultValue={options.text ?? ''} />
            <small>Plain text; an empty line begins a paragraph, and addresses become links.</small>
          </label>
        ) : isMissing ? (
          <Note>
            {source === undefined || source.chosen !== null
              ? 'The product has no field that can be shown like this.'
              : 'Choose its devices first.'}
          </Note>
        ) : (
          <label>
            Fields
            <select key={kind} name="field" required multiple>
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
            <small>Several with Ctrl or Shift.</small>
          </label>
        )}
        <label>
          Title
          <input
            name="title"
            maxLength={200}
            placeholder={isText ? 'none' : 'The name of the field'}
            defaultValue={widget?.title ?? ''}
          />
        </label>
        {isRanged && (
          <label>
            How far back
            <input name="range" placeholder="24h" defaultValue={widget?.range ?? '24h'} />
            <small>Such as 90m, 24h, 7d, 1mo or 1y.</small>
          </label>
        )}
        {kind === 'bar' && <BarOptions options={options} />}
        {kind === 'gauge' && (
          <div class="widget-limits">
            <label>
              From
              <input name="min" type="number" step="any" required defaultValue={String(options.min ?? 0)} />
            </label>
            <label>
              To
              <input name="max" type="number" step="any" required defaultValue={String(options.max ?? 100)} />
            </label>
          </div>
        )}
        {kind === 'table' && (
          <label>
            Its rows are
            <select name="rows">
              <option value="time">the moments at which values came</option>
              <option value="latest" selected={options.rows === 'latest'}>
                the latest values
              </option>
            </select>
          </label>
        )}
        {kind === 'map' && (
          <label>
            It shows
            <select name="track">
              <option value="true">the way of that time</option>
              <option value="false" selected={options.track === false}>
                only where it is
              </option>
            </select>
          </label>
        )}
        {COLORED.has(kind) && (
          <>
            <label>
              Decimals
              <input
                name="decimals"
                type="number"
                min={0}
                max={10}
                placeholder="as many as it needs"
                defaultValue={options.decimals === undefined ? '' : String(options.decimals)}
              />
            </label>
            <ThresholdInputs thresholds={options.thresholds ?? []} />
          </>
        )}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isMissing || (!isText && source?.chosen === null)}>
            {widget === null ? 'Add it' : 'Change it'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function BarOptions({ options }: { options: ReturnType<typeof optionsOf> }) {
  const { width } = options;
  const isKnown = width === undefined || BAR_WIDTHS.some((one) => one.width === width);
  return (
    <div class="widget-limits">
      <label>
        A bar is the
        <select name="aggregation">
          <option value="">what suits its fields: mean, or increase of a counter</option>
          {BAR_AGGREGATIONS.map(({ aggregation, text }) => (
            <option
              key={aggregation}
              value={aggregation}
              selected={aggregation === aggregationOf({ options: { ...options } })}
            >
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Width of a bar
        <select name="width">
          <option value="">what suits the time</option>
          {BAR_WIDTHS.map((one) => (
            <option key={one.width} value={one.width} selected={one.width === width}>
              {one.text}
            </option>
          ))}
          {!isKnown && (
            <option value={width} selected>
              {width}
            </option>
          )}
        </select>
      </label>
    </div>
  );
}

function isOwn(name: string): boolean {
  return (OWN_OPTIONS as readonly string[]).includes(name);
}

/** The options of the kind as the form has them; undefined: left out. */
function ownOptions(kind: Widget['kind'], form: HTMLFormElement): Record<string, unknown> {
  const text = textsOf(form);
  const thresholds = thresholdsIn(form);
  const shown = COLORED.has(kind)
    ? {
        decimals: text('decimals') === '' ? undefined : Number(text('decimals')),
        thresholds: thresholds.length === 0 ? undefined : thresholds,
      }
    : {};
  if (kind === 'gauge') return { ...shown, min: Number(text('min')), max: Number(text('max')) };
  if (kind === 'bar')
    return { ...shown, aggregation: text('aggregation') || undefined, width: text('width') || undefined };
  if (kind === 'table') return { ...shown, rows: text('rows') === 'latest' ? 'latest' : undefined };
  if (kind === 'map') return { track: text('track') === 'false' ? false : undefined };
  if (kind === 'text') return { text: text('text') };
  return shown;
}

import { useMemo, useRef } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { usePushedValues } from './use-pushed-values.ts';
import { WidgetView } from './widget-view.tsx';
import { COLUMNS, type DashboardField, kindOf, moveWidget, type Widget, type WidgetScope } from './widgets.ts';
import './dashboard.css';
import { t } from '../texts/texts.ts';

const ROW = 56;
const GAP = 10;
const HEAD = 44;

/** Handlers of changes to widgets; null: read only. */
interface Editing {
  onChange: (widgets: Widget[]) => void;
  onEdit: (index: number) => void;
  onRemove: (index: number) => void;
}

interface DashboardGridProps {
  widgets: readonly Widget[];
  fields: readonly DashboardField[];
  /** The device whose values are shown; null: none, the widgets are empty. */
  deviceId: string | null;
  /** Of the headings of widgets, one below that of what the dashboard belongs to. */
  level: 2 | 3;
  editing: Editing | null;
}

/** The widgets of a product with the live values of one device. */
export function DashboardGrid({ widgets, fields, deviceId, level, editing }: DashboardGridProps) {
  const scope = useMemo(
    (): WidgetScope => ({ devices: deviceId === null ? [] : [{ id: deviceId, name: '' }], fields }),
    [deviceId, fields],
  );
  return <WidgetGrid widgets={widgets} scopeOf={() => scope} level={level} editing={editing} />;
}

interface WidgetGridProps {
  widgets: readonly Widget[];
  /** What a widget shows. */
  scopeOf: (widget: Widget) => WidgetScope;
  level: DashboardGridProps['level'];
  editing: Editing | null;
}

/** Widgets with the live values of their devices. While editing they are dragged, or moved by the arrow keys. */
export function WidgetGrid({ widgets, scopeOf, level, editing }: WidgetGridProps) {
  const host = useRef<HTMLDivElement>(null);
  const scopes = widgets.map(scopeOf);
  const Heading = level === 2 ? 'h2' : 'h3';
  const names = new Set<string>();
  const live = usePushedValues(
    [...new Set(scopes.flatMap(({ devices }) => devices.map(({ id }) => id)))],
    [...new Set(widgets.flatMap((widget, index) => fieldsOf(widget, scopes[index]!)))],
  );
  /** Follows the pointer from here on, in grid cells. */
  const drag = (event: PointerEvent, index: number, way: 'move' | 'size'): void => {
    if (editing === null || event.button !== 0 || (event.target as Element).closest('[data-stays]') !== null) return;
    event.preventDefault();
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    const cell = (host.current!.clientWidth + GAP) / COLUMNS;
    const { x, y, width, height } = widgets[index]!.place;
    const before = [...widgets];
    const onMove = (moved: PointerEvent): void => {
      const right = Math.round((moved.clientX - event.clientX) / cell);
      const down = Math.round((moved.clientY - event.clientY) / (ROW + GAP));
      const place =
        way === 'move'
          ? { x: x + right, y: y + down, width, height }
          : { x, y, width: Math.max(1, width + right), height: Math.max(1, height + down) };
      editing.onChange(moveWidget(before, index, place));
    };
    const onEnd = (): void => handle.removeEventListener('pointermove', onMove);
    handle.addEventListener('pointermove', onMove);
    handle.addEventListener('lostpointercapture', onEnd, { once: true });
  };
  const onKey = (event: KeyboardEvent, index: number): void => {
    const steps: Record<string, [right: number, down: number]> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const step = steps[event.key];
    if (step === undefined || editing === null) return;
    event.preventDefault();
    const { x, y, width, height } = widgets[index]!.place;
    const place = event.shiftKey
      ? { x, y, width: width + step[0], height: height + step[1] }
      : { x: x + step[0], y: y + step[1], width, height };
    editing.onChange(moveWidget(widgets, index, place));
  };
  return (
    <div ref={host} class="dashboard" data-editing={editing !== null}>
      {widgets.map((widget, index) => {
        const { x, y, width, height } = widget.place;
        const scope = scopes[index]!;
        const title = widget.title ?? titleOf(widget, scope.fields);
        const name = unusedName(title, kindOf(widget.kind).text, names);
        names.add(name);
        return (
          <section
            key={index}
            class="card widget"
            data-kind={widget.kind}
            aria-label={name}
            style={{ gridColumn: `${x + 1} / span ${width}`, gridRow: `${y + 1} / span ${height}` }}
          >
            {(editing !== null || widget.kind !== 'text' || widget.title !== undefined) && (
              <header onPointerDown={(event) => drag(event, index, 'move')}>
                <Heading>{title}</Heading>
                {editing !== null && (
                  <>
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Move ${name}: arrow keys, with Shift its size`}
                      onKeyDown={(event) => onKey(event, index)}
                    >
                      <Icon name="more" />
                    </button>
                    <button
                      type="button"
                      class="quiet"
                      data-stays
                      aria-label={`Change ${name}`}
                      onClick={() => editing.onEdit(index)}
                    >
                      <Icon name="pencil" />
                    </button>
                    <button
                      type="button"
                      class="quiet"
                      data-stays
                      aria-label={`Remove ${name}`}
                      onClick={() => editing.onRemove(index)}
                    >
                      <Icon name="close" />
                    </button>
                  </>
                )}
              </header>
            )}
            <WidgetView widget={widget} scope={scope} live={live} height={height * (ROW + GAP) - GAP - HEAD} />
            {editing !== null && <i class="widget-size" onPointerDown={(event) => drag(event, index, 'size')} />}
          </section>
        );
      })}
    </div>
  );
}

/** The fields of a widget that its products have. */
function fieldsOf({ fields: wanted }: Widget, { fields }: WidgetScope): string[] {
  return wanted.filter((identifier) => fields.some((field) => field.identifier === identifier));
}

/** The title, or with the kind and a number what tells the widget from those before it. */
function unusedName(title: string, kind: string, used: ReadonlySet<string>): string {
  if (!used.has(title)) return title;
  const named = `${title}, ${kind}`;
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? named : `${named} ${count}`;
    if (!used.has(name)) return name;
  }
}

function titleOf({ kind, fields: identifiers }: Widget, fields: readonly DashboardField[]): string {
  if (kind === 'text') return t('Text');
  return identifiers
    .map((identifier) => fields.find((field) => field.identifier === identifier)?.name ?? identifier)
    .join(', ');
}

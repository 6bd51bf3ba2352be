import type { FieldMeaning, FieldType } from '../api/schema-types.ts';
import { t } from '../texts/texts.ts';

/** The properties of a field that widgets need. */
export interface DashboardField {
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
  meaning: FieldMeaning;
  /** As `Field.display` has it. */
  display?: unknown;
}

/** Position and size of a widget in grid cells. */
interface WidgetPlace {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The devices of a widget: these, or all of a product, or all that have each of the tags. */
export interface Source {
  deviceIds?: string[];
  productId?: string;
  tags?: string[];
}

/** One widget of a dashboard; only one of a workspace's has a source of its own. */
export interface Widget {
  kind: 'line' | 'area' | 'bar' | 'value' | 'gauge' | 'state' | 'table' | 'map' | 'text';
  title?: string;
  fields: string[];
  range?: string;
  place: WidgetPlace;
  options?: Record<string, unknown>;
  source?: Source;
}

/** What a widget shows: its devices, and the fields that they may have. */
export interface WidgetScope {
  devices: readonly {
    id: string;
    name: string;
    /** Fields of its product, where there are devices of several: they may differ in unit and type. */
    own?: readonly DashboardField[] | undefined;
  }[];
  fields: readonly DashboardField[];
}

/** Cells per row. */
export const COLUMNS = 12;
const LAST_ROW = 1_000;

/** A kind of widget: its first size, and the fields it can show. */
interface WidgetKind {
  kind: Widget['kind'];
  text: string;
  width: number;
  height: number;
  /** Types of fields it can show; left out: all. */
  types?: readonly FieldType[];
  /** True when it shows a range of time. */
  isRanged?: boolean;
}

const DRAWN: readonly FieldType[] = ['FLOAT', 'INTEGER', 'BOOLEAN'];

/** The kinds of widgets to choose from. */
export const WIDGET_KINDS: readonly WidgetKind[] = [
  { kind: 'value', text: t('Value'), width: 3, height: 2 },
  { kind: 'line', text: t('Line chart'), width: 6, height: 4, types: DRAWN, isRanged: true },
  { kind: 'area', text: t('Area chart'), width: 6, height: 4, types: DRAWN, isRanged: true },
  { kind: 'bar', text: t('Bar chart'), width: 6, height: 4, types: DRAWN, isRanged: true },
  { kind: 'gauge', text: t('Gauge'), width: 3, height: 3, types: ['FLOAT', 'INTEGER'] },
  { kind: 'state', text: t('State'), width: 3, height: 2 },
  { kind: 'table', text: t('Table'), width: 6, height: 5, isRanged: true },
  { kind: 'map', text: t('Map'), width: 6, height: 6, types: ['GEOLOCATION'], isRanged: true },
  { kind: 'text', text: t('Text'), width: 4, height: 3 },
];

/** The kind's row in `WIDGET_KINDS`. */
export function kindOf(kind: Widget['kind']): WidgetKind {
  return WIDGET_KINDS.find((one) => one.kind === kind)!;
}

/** Widgets for a product without any: what each field is now, charts of the numbers, and maps. */
export function defaultWidgets(fields: readonly Pick<DashboardField, 'identifier' | 'type'>[]): Widget[] {
  const isDrawn = ({ type }: Pick<DashboardField, 'type'>): boolean => DRAWN.includes(type);
  const isPlace = ({ type }: Pick<DashboardField, 'type'>): boolean => type === 'GEOLOCATION';
  const wanted = [
    ...fields.filter((field) => !isPlace(field)).map((field) => [isDrawn(field) ? 'value' : 'state', field] as const),
    ...fields.filter(isDrawn).map((field) => ['line', field] as const),
    ...fields.filter(isPlace).map((field) => ['map', field] as const),
  ];
  const widgets: Widget[] = [];
  for (const [kind, { identifier }] of wanted) {
    const { width, height } = kindOf(kind);
    widgets.push({ kind, fields: [identifier], place: freePlace(widgets, width, height) });
  }
  return widgets;
}

/** The widgets of a dashboard that the server has checked. */
export function widgetsOf(dashboard: unknown): Widget[] {
  const { widgets } = dashboard as { widgets: (Omit<Widget, 'fields'> & { fields?: string[] })[] };
  return widgets.map(({ fields = [], ...widget }) => ({ ...widget, fields }));
}

/** The widgets as the API takes them: a text has no fields. */
export function savedWidgets(widgets: readonly Widget[]): object[] {
  return widgets.map(({ fields, ...widget }) => (widget.kind === 'text' ? widget : { ...widget, fields }));
}

/** The widgets with one of them moved to another place, inside the grid; covered ones move down, and so on. */
export function moveWidget(widgets: readonly Widget[], index: number, wanted: WidgetPlace): Widget[] {
  const width = within(wanted.width, 1, COLUMNS);
  const height = within(wanted.height, 1, LAST_ROW);
  const place = { x: within(wanted.x, 0, COLUMNS - width), y: within(wanted.y, 0, LAST_ROW), width, height };
  const moved = widgets.map((widget, at) => (at === index ? { ...widget, place } : widget));
  const settled: Widget[] = [moved[index]!];
  const others = moved.filter((_, at) => at !== index).sort((a, b) => a.place.y - b.place.y);
  const places = new Map<Widget, Widget>();
  for (const widget of others) {
    let free = widget;
    for (;;) {
      const covering = settled.find((one) => overlap(one.place, free.place));
      if (covering === undefined) break;
      free = { ...free, place: { ...free.place, y: covering.place.y + covering.place.height } };
    }
    settled.push(free);
    places.set(widget, free);
  }
  return moved.map((widget) => places.get(widget) ?? widget);
}

/** The first place of that size, row by row, that covers no widget. */
export function freePlace(widgets: readonly Widget[], width: number, height: number): WidgetPlace {
  const end = Math.max(0, ...widgets.map(({ place }) => place.y + place.height));
  for (let y = 0; y < end; y += 1)
    for (let x = 0; x <= COLUMNS - width; x += 1) {
      const free = { x, y, width, height };
      if (!widgets.some(({ place }) => overlap(place, free))) return free;
    }
  return { x: 0, y: end, width, height };
}

function overlap(a: WidgetPlace, b: WidgetPlace): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function within(value: number, least: number, most: number): number {
  return Math.min(Math.max(least, Math.round(value)), most);
}

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800, mo: 2_592_000, y: 31_536_000 };
const DAY_MS = 86_400_000;

/** Length of a range such as `24h`, in milliseconds; a day without one. */
export function rangeMs(range: string | undefined): number {
  const [, count, unit] = /^(\d+)([a-z]+)$/.exec(range ?? '') ?? [];
  return count === undefined ? DAY_MS : Number(count) * (UNITS[unit ?? ''] ?? 3_600) * 1_000;
}

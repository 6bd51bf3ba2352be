import { badInput } from '../../errors.ts';
import { FIELD_IDENTIFIER } from '../entities/field.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { checkText } from '../text/text.ts';
import { MAX_DASHBOARD } from './dashboard-rows.ts';
import { list, object, shown, text } from './document-parts.ts';
import { checkWidgetOptions, WIDGET_KINDS, type WidgetKind } from './widget-options.ts';

const MAX_WIDGETS = 200;
const MAX_FIELDS = 50;
const MAX_PLACE = 1000;
const RANGE = /^[1-9]\d{0,4}(?:s|m|h|d|w|mo|y)$/;

/**
 * One widget. `fields`: identifiers, which need not exist yet; a text has none. `range`: length of time back from now,
 * such as `24h` or `7d`. `place`: in cells of the grid. `options`: a JSON object, of which `widget-options` knows a part.
 */
export interface Widget {
  kind: WidgetKind;
  title?: string;
  fields?: string[];
  range?: string;
  place: { x: number; y: number; width: number; height: number };
  options?: Record<string, unknown>;
}

/** The content of `Product.dashboard`. */
export interface Dashboard {
  widgets: Widget[];
}

/** The dashboard of a new product. */
export const EMPTY_DASHBOARD: Dashboard = { widgets: [] };

/** The document itself when it is a dashboard; else BAD_USER_INPUT with the JSON path of the first mistake. */
export function checkDashboard(document: unknown, path = 'dashboard'): Dashboard {
  checkJsonDocument(document, path, MAX_DASHBOARD);
  const { widgets } = object(document, path, ['widgets'], []);
  checkWidgets(widgets, `${path}.widgets`);
  return document as Dashboard;
}

/** The list itself when it holds widgets; `more`: keys that each of them may have beside its own. */
export function checkWidgets(widgets: unknown, path: string, more: readonly string[] = []): Widget[] {
  const items = list(widgets, path, MAX_WIDGETS);
  items.forEach((widget, index) => checkWidget(widget, `${path}[${index}]`, more));
  return items as Widget[];
}

const NAME = /[A-Za-z0-9_-]+/g;

/**
 * The dashboard for a token that covers only some of the product's fields: without widgets of others, and without titles
 * and options of those that show others too, or that name one of `hidden`.
 */
export function seenDashboard(
  { widgets }: Dashboard,
  covers: (identifier: string) => boolean,
  hidden: ReadonlySet<string>,
): Dashboard {
  return { widgets: seenWidgets(widgets, covers, hidden) };
}

/** The widgets for such a token. A text stays unless it names one of `hidden`. */
export function seenWidgets<One extends Widget>(
  widgets: readonly One[],
  covers: (identifier: string) => boolean,
  hidden: ReadonlySet<string>,
): One[] {
  const names = (text: string | undefined): boolean => text?.match(NAME)?.some((name) => hidden.has(name)) ?? false;
  return widgets.flatMap((widget) => {
    const { title, options, fields = [], ...rest } = widget;
    const left = fields.filter(covers);
    const isWhole = left.length === fields.length;
    const isTold = options === undefined || !names(JSON.stringify(options));
    if (widget.kind === 'text' ? !isTold : left.length === 0) return [];
    const seen: Widget = {
      ...rest,
      fields: left,
      ...(title === undefined || !isWhole || names(title) ? {} : { title }),
      ...(options === undefined || !isWhole || !isTold ? {} : { options }),
    };
    return [seen as One];
  });
}

function checkWidget(widget: unknown, path: string, more: readonly string[]): void {
  const { kind, title, fields, range, place, options } = object(
    widget,
    path,
    ['kind', 'place'],
    ['fields', 'title', 'range', 'options', ...more],
  );
  if (!isKind(kind)) throw badInput(`${path}.kind: expected one of ${WIDGET_KINDS.join(', ')}, got ${shown(kind)}.`);
  if (title !== undefined) checkText(text(title, `${path}.title`), `${path}.title`, { max: 200, optional: true });
  if (range !== undefined && !RANGE.test(text(range, `${path}.range`)))
    throw badInput(`${path}.range: expected a number and s, m, h, d, w, mo or y, such as "24h", got ${shown(range)}.`);
  checkFields(fields, `${path}.fields`, kind);
  const given = options === undefined ? {} : object(options, `${path}.options`, [], null);
  checkWidgetOptions(given, `${path}.options`, kind, range);
  const cells = object(place, `${path}.place`, ['x', 'y', 'width', 'height'], []);
  for (const [key, value] of Object.entries(cells)) {
    const min = key === 'x' || key === 'y' ? 0 : 1;
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > MAX_PLACE)
      throw badInput(`${path}.place.${key}: expected a whole number from ${min} to ${MAX_PLACE}, got ${shown(value)}.`);
  }
}

function isKind(kind: unknown): kind is WidgetKind {
  return (WIDGET_KINDS as readonly unknown[]).includes(kind);
}

function checkFields(fields: unknown, path: string, kind: WidgetKind): void {
  if (kind === 'text') {
    if (fields !== undefined && list(fields, path, MAX_FIELDS).length > 0)
      throw badInput(`${path}: a text shows no fields; leave them out, or choose another kind.`);
    return;
  }
  if (fields === undefined) throw badInput(`${path}: is missing.`);
  const identifiers = list(fields, path, MAX_FIELDS);
  if (identifiers.length === 0) throw badInput(`${path}: name at least one field.`);
  identifiers.forEach((identifier, index) => {
    if (!FIELD_IDENTIFIER.test(text(identifier, `${path}[${index}]`)))
      throw badInput(`${path}[${index}]: ${shown(identifier)} is no field identifier (1 to 64 of A-Z a-z 0-9 _ -).`);
  });
}

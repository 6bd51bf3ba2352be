import { badInput } from '../../errors.ts';
import { FIELD_IDENTIFIER } from '../entities/field.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { checkText } from '../text/text.ts';
import { MAX_DASHBOARD } from './dashboard-rows.ts';

const MAX_WIDGETS = 200;
const MAX_FIELDS = 50;
const MAX_PLACE = 1000;
const RANGE = /^[1-9]\d{0,4}(?:s|m|h|d|w|mo|y)$/;

const WIDGET_KINDS = ['line', 'area', 'bar', 'value', 'gauge', 'state', 'table', 'map'] as const;

/**
 * One widget. `fields`: identifiers, which need not exist yet. `range`: length of time back from now, such as `24h` or
 * `7d`. `place`: in cells of the grid. `options`: any JSON object, specific to the kind.
 */
interface Widget {
  kind: (typeof WIDGET_KINDS)[number];
  title?: string;
  fields: string[];
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
  const items = list(widgets, `${path}.widgets`, MAX_WIDGETS);
  items.forEach((widget, index) => checkWidget(widget, `${path}.widgets[${index}]`));
  return document as Dashboard;
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
  const names = (text: string | undefined): boolean => text?.match(NAME)?.some((name) => hidden.has(name)) ?? false;
  return {
    widgets: widgets.flatMap((widget) => {
      const { kind, title, range, place, options } = widget;
      const fields = widget.fields.filter(covers);
      if (fields.length === 0) return [];
      const isWhole = fields.length === widget.fields.length;
      return [
        {
          kind,
          ...(title === undefined || !isWhole || names(title) ? {} : { title }),
          fields,
          ...(range === undefined ? {} : { range }),
          place,
          ...(options === undefined || !isWhole || names(JSON.stringify(options)) ? {} : { options }),
        },
      ];
    }),
  };
}

function checkWidget(widget: unknown, path: string): void {
  const { kind, title, fields, range, place, options } = object(
    widget,
    path,
    ['kind', 'fields', 'place'],
    ['title', 'range', 'options'],
  );
  if (!(WIDGET_KINDS as readonly unknown[]).includes(kind))
    throw badInput(`${path}.kind: expected one of ${WIDGET_KINDS.join(', ')}, got ${shown(kind)}.`);
  if (title !== undefined) checkText(text(title, `${path}.title`), `${path}.title`, { max: 200, optional: true });
  if (range !== undefined && !RANGE.test(text(range, `${path}.range`)))
    throw badInput(`${path}.range: expected a number and s, m, h, d, w, mo or y, such as "24h", got ${shown(range)}.`);
  if (options !== undefined) object(options, `${path}.options`, [], null);
  checkFields(fields, `${path}.fields`);
  const cells = object(place, `${path}.place`, ['x', 'y', 'width', 'height'], []);
  for (const [key, value] of Object.entries(cells)) {
    const min = key === 'x' || key === 'y' ? 0 : 1;
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > MAX_PLACE)
      throw badInput(`${path}.place.${key}: expected a whole number from ${min} to ${MAX_PLACE}, got ${shown(value)}.`);
  }
}

function checkFields(fields: unknown, path: string): void {
  const identifiers = list(fields, path, MAX_FIELDS);
  if (identifiers.length === 0) throw badInput(`${path}: name at least one field.`);
  identifiers.forEach((identifier, index) => {
    if (!FIELD_IDENTIFIER.test(text(identifier, `${path}[${index}]`)))
      throw badInput(`${path}[${index}]: ${shown(identifier)} is no field identifier (1 to 64 of A-Z a-z 0-9 _ -).`);
  });
}

/** An object with these keys and no others; `optional` null: with any others. */
function object(
  value: unknown,
  path: string,
  required: readonly string[],
  optional: readonly string[] | null,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badInput(`${path}: expected an object, got ${shown(value)}.`);
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw badInput(`${path}.${missing}: is missing.`);
  const known = optional && [...required, ...optional];
  const unknown = known && Object.keys(value).find((key) => !known.includes(key));
  if (unknown != null) throw badInput(`${path}.${unknown.slice(0, 50)}: unknown; there are ${known?.join(', ')}.`);
  return value as Record<string, unknown>;
}

function list(value: unknown, path: string, max: number): unknown[] {
  if (!Array.isArray(value)) throw badInput(`${path}: expected a list, got ${shown(value)}.`);
  if (value.length > max) throw badInput(`${path}: at most ${max} items are allowed.`);
  return value;
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw badInput(`${path}: expected a text, got ${shown(value)}.`);
  return value;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}

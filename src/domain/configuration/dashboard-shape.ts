import { badInput } from '../../errors.ts';
import {
  checkSourcedWidgets,
  MAX_DEVICES_OF_WIDGET,
  MAX_TAGS,
  type Source,
  type SourcedWidget,
} from '../dashboards/source.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import { list, object } from '../products/document-parts.ts';
import { checkWidgets, type Widget } from '../products/dashboard.ts';
import { sortedJson } from '../text/json-text.ts';
import {
  type DeviceReference,
  nameOfDevice,
  nameOfReference,
  type ProductReference,
  readDeviceReference,
  readProductReference,
} from './references.ts';
import type { GroupShape, Tree } from './shape.ts';
import { anyText, text } from './values.ts';

/** The devices of a widget as a document names them; `devices` is empty when all that it showed is gone. */
export type NamedSource =
  | { devices: readonly DeviceReference[] }
  | { product: ProductReference }
  | { tags: readonly string[] };

/** A widget of a document; a text has no source. */
export interface NamedWidget extends Widget {
  source?: NamedSource;
}

const SOURCES = ['devices', 'product', 'tags'] as const;

/** A dashboard of a document: over devices of the workspace, which it names as tokens do. */
export const DASHBOARD: GroupShape = {
  kind: 'group',
  properties: {
    key: { kind: 'value', read: (given, path) => checkAuthorKey(anyText(given, path), path), otherwise: null },
    name: { kind: 'value', read: text({ max: 200 }), otherwise: null, isRequired: true },
    widgets: { kind: 'value', read: readWidgets, otherwise: [] },
  },
};

/** The widgets of a dashboard's tree. */
export function widgetsOf({ widgets = [] }: Tree): readonly NamedWidget[] {
  return widgets as readonly NamedWidget[];
}

/** The widgets as they are stored; `productId` and `deviceId`: of names. */
export function sourcedWidgets(
  widgets: readonly NamedWidget[],
  { productId, deviceId }: { productId: (name: string) => string; deviceId: (name: string) => string },
): SourcedWidget[] {
  const sourceOf = (source: NamedSource): Source =>
    'devices' in source
      ? { deviceIds: source.devices.map((device) => deviceId(nameOfDevice(device))) }
      : 'product' in source
        ? { productId: productId(nameOfReference(source.product)) }
        : { tags: [...source.tags] };
  return widgets.map(({ source, ...widget }) =>
    source === undefined ? widget : { ...widget, source: sourceOf(source) },
  );
}

/** The widgets in their one form: each device and tag once, tags sorted, the keys of all objects in one order. */
export function normalWidgets(widgets: readonly NamedWidget[]): NamedWidget[] {
  const sourceOf = (source: NamedSource): NamedSource => {
    if ('tags' in source) return { tags: [...new Set(source.tags)].toSorted() };
    if ('product' in source) return source;
    return { devices: [...new Map(source.devices.map((device) => [nameOfDevice(device), device])).values()] };
  };
  return widgets.map(({ source, ...widget }) => {
    // References have an order of keys of their own.
    const sorted = sortedJson(widget) as Widget;
    return source === undefined ? sorted : { ...sorted, source: sourceOf(source) };
  });
}

function readWidgets(given: unknown, path: string): NamedWidget[] {
  const named = (checkWidgets(given, path, ['source']) as (Widget & { source?: unknown })[]).map(
    ({ source, ...widget }, index): NamedWidget =>
      source === undefined ? widget : { ...widget, source: readSource(source, `${path}[${index}].source`) },
  );
  const widgets = normalWidgets(named);
  // Stands for ids, as long as they are: those of new devices are not known yet.
  const ids = new Map<string, string>();
  const idOf = (name: string): string => {
    const id = ids.get(name) ?? String(ids.size).padStart(36, '0');
    ids.set(name, id);
    return id;
  };
  const stored = sourcedWidgets(widgets, { productId: idOf, deviceId: idOf });
  for (const { source } of stored) if (source?.deviceIds?.length === 0) source.deviceIds = [idOf('')];
  checkSourcedWidgets(stored, path);
  return widgets;
}

function readSource(given: unknown, path: string): NamedSource {
  const source = object(given, path, [], SOURCES);
  const [key, another] = SOURCES.filter((name) => source[name] !== undefined);
  if (key === undefined || another !== undefined)
    throw badInput(`${path}: choose devices in exactly one way: ${SOURCES.join(', ')}.`);
  const at = `${path}.${key}`;
  if (key === 'product') return { product: readProductReference(source[key], at) };
  const items = list(source[key], at, key === 'tags' ? MAX_TAGS : MAX_DEVICES_OF_WIDGET);
  if (key === 'tags') return { tags: items.map((tag, index) => anyText(tag, `${at}[${index}]`)) };
  return { devices: items.map((device, index) => readDeviceReference(device, `${at}[${index}]`)) };
}

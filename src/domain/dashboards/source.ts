import { badInput } from '../../errors.ts';
import { MAX_DASHBOARD } from '../products/dashboard-rows.ts';
import { checkWidgets, type Widget } from '../products/dashboard.ts';
import { list, object, text } from '../products/document-parts.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { checkText } from '../text/text.ts';

/** Maximum devices named by one widget: as many as one history reads. */
export const MAX_DEVICES_OF_WIDGET = 200;
/** Maximum devices named by a dashboard. */
const MAX_DEVICES_OF_DASHBOARD = 1_000;
/** Maximum different choices of tags in a dashboard: each is a search of its own. */
const MAX_TAG_CHOICES = 20;
/** Maximum tags per widget: its devices have all of them. */
export const MAX_TAGS = 10;
const ID_LENGTH = 36;
const KEYS = ['deviceIds', 'productId', 'tags'] as const;

/** The devices of a widget: these, or all of a product, or all that have each of the tags. */
export interface Source {
  deviceIds?: string[];
  productId?: string;
  tags?: string[];
}

/** A widget of a dashboard of a workspace; a text has no source. */
export interface SourcedWidget extends Widget {
  source?: Source;
}

/** Everything that the widgets of a dashboard name, each once; ids in lower case. */
export interface NamedSources {
  deviceIds: string[];
  productIds: string[];
  tags: string[][];
}

/** The widgets themselves when a dashboard of a workspace can have them; else BAD_USER_INPUT with the path. */
export function checkSourcedWidgets(widgets: unknown, path = 'widgets'): SourcedWidget[] {
  checkJsonDocument(widgets, path, MAX_DASHBOARD);
  const checked: SourcedWidget[] = checkWidgets(widgets, path, ['source']);
  checked.forEach(({ kind, source }, index) => checkSource(source, `${path}[${index}].source`, kind === 'text'));
  const { deviceIds, tags } = sourcesOf(checked);
  if (deviceIds.length > MAX_DEVICES_OF_DASHBOARD)
    throw badInput(`${path}: they name ${deviceIds.length} devices; at most ${MAX_DEVICES_OF_DASHBOARD} are allowed.`);
  if (tags.length > MAX_TAG_CHOICES)
    throw badInput(`${path}: they have ${tags.length} choices of tags; at most ${MAX_TAG_CHOICES} are allowed.`);
  return checked;
}

/** What the widgets name. */
export function sourcesOf(widgets: readonly SourcedWidget[]): NamedSources {
  const [deviceIds, productIds, tags] = [new Set<string>(), new Set<string>(), new Map<string, string[]>()];
  for (const { source = {} } of widgets) {
    for (const id of source.deviceIds ?? []) deviceIds.add(id.toLowerCase());
    if (source.productId !== undefined) productIds.add(source.productId.toLowerCase());
    if (source.tags !== undefined) tags.set([...new Set(source.tags)].toSorted().join('\n'), source.tags);
  }
  return { deviceIds: [...deviceIds], productIds: [...productIds], tags: [...tags.values()] };
}

function checkSource(source: unknown, path: string, isText: boolean): void {
  if (source === undefined) {
    if (isText) return;
    throw badInput(`${path}: is missing; say which devices: "deviceIds", "productId" or "tags".`);
  }
  if (isText) throw badInput(`${path}: a text shows no devices; leave it out.`);
  const given = object(source, path, [], KEYS);
  const [key, another] = KEYS.filter((name) => given[name] !== undefined);
  if (key === undefined || another !== undefined)
    throw badInput(`${path}: choose devices in exactly one way: "deviceIds", "productId" or "tags".`);
  if (key === 'productId') return checkId(given[key], `${path}.${key}`);
  const most = key === 'tags' ? MAX_TAGS : MAX_DEVICES_OF_WIDGET;
  const items = list(given[key], `${path}.${key}`, most);
  if (items.length === 0) throw badInput(`${path}.${key}: name at least one.`);
  items.forEach((item, index) => {
    const at = `${path}.${key}[${index}]`;
    if (key === 'tags') checkText(text(item, at), at, { max: 100 });
    else checkId(item, at);
  });
}

function checkId(id: unknown, path: string): void {
  checkText(text(id, path), path, { max: ID_LENGTH });
}

import type { EntityManager } from '@mikro-orm/sql';
import { badInput } from '../../errors.ts';
import { MAX_DASHBOARDS } from '../dashboards/dashboard-service.ts';
import { type SourcedWidget, sourcesOf } from '../dashboards/source.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { Applied } from './applied-objects.ts';
import { DASHBOARD, type NamedSource, type NamedWidget, normalWidgets, widgetsOf } from './dashboard-shape.ts';
import { blockTooMany, type Draft, draftsOfPairs, type Ownership, staying } from './draft.ts';
import { normalOf } from './normal-form.ts';
import { paired } from './pairing.ts';
import { type Asked, MAX_DOCUMENT } from './read-document.ts';
import {
  type DeviceReference,
  nameOfDevice,
  nameOfReference,
  nameWithoutKey,
  noDevice,
  noProduct,
  numbering,
  type ProductReference,
} from './references.ts';
import type { Block, Tree } from './shape.ts';
import { readDeviceReferences } from './workspace-state.ts';
import { must } from '../../must.ts';

/** A dashboard as it is. */
interface DashboardState {
  key: number;
  id: string;
  name: string;
  /** null: it has a key. */
  sharedName: string | null;
  tree: Tree;
}

/** A dashboard of a plan. */
export type DashboardDraft = Draft<DashboardState>;

interface Row {
  key: number;
  id: string;
  title: string;
  authorKey: string | null;
  widgets: string;
}

/**
 * The dashboards of a workspace in the order of their creation; `references`: of products, by their ids. BAD_USER_INPUT for
 * more than a document holds: names are longer than ids.
 */
export async function readDashboardStates(
  em: EntityManager,
  workspaceId: string,
  references: ReadonlyMap<string, ProductReference>,
): Promise<DashboardState[]> {
  const rows = await em.execute<Row[]>(
    'select "key", id, name as title, author_key as "authorKey", widgets from dashboard where workspace_id = ? ' +
      'order by "key"',
    [workspaceId],
  );
  const slices = new TransactionSlices();
  const parsed: SourcedWidget[][] = [];
  for (const { widgets } of rows) {
    parsed.push(JSON.parse(widgets) as SourcedWidget[]);
    await slices.next();
  }
  const ids = parsed.flatMap((widgets) => sourcesOf(widgets).deviceIds);
  const devices = await readDeviceReferences(em, references, ids);
  const nthOf = numbering();
  const states: DashboardState[] = [];
  let length = 0;
  for (const [at, { key, id, title, authorKey }] of rows.entries()) {
    const widgets = normalWidgets(must(parsed[at]).map((widget) => named(widget, references, devices)));
    const tree = normalOf(DASHBOARD, { key: authorKey, name: title, widgets });
    length += JSON.stringify(tree).length;
    if (length > MAX_DOCUMENT)
      throw badInput(
        `dashboards: with the devices by name they have more than ${MAX_DOCUMENT} characters; choose devices by product or tags.`,
      );
    const name = authorKey ?? nameWithoutKey(title, nthOf(title));
    states.push({ key, id, name, sharedName: authorKey === null ? title : null, tree });
    await slices.next();
  }
  return states;
}

/** The widget by names, without devices and products that are gone. */
function named(
  { source, ...widget }: SourcedWidget,
  references: ReadonlyMap<string, ProductReference>,
  devices: ReadonlyMap<string, DeviceReference>,
): NamedWidget {
  if (source === undefined) return widget;
  const { deviceIds = [], productId, tags } = source;
  const product = productId && references.get(productId.toLowerCase());
  const there = deviceIds.flatMap((id) => devices.get(id.toLowerCase()) ?? []);
  const by: NamedSource = tags !== undefined ? { tags } : product ? { product } : { devices: there };
  return { ...widget, source: by };
}

interface DashboardsAround {
  workspaceId: string;
  asked: readonly Asked[];
  /** Those that the set owns and the document no longer names. */
  owned: ReadonlyMap<string, Applied>;
  ownership: Ownership;
  /** References to products by their ids, as they are once the document is applied. */
  references: ReadonlyMap<string, ProductReference>;
}

/** The dashboards of a plan, and those that there are; null: none was read. */
export async function planDashboards(
  em: EntityManager,
  { workspaceId, asked, owned, ownership, references }: DashboardsAround,
  blocks: Block[],
): Promise<{ dashboards: DashboardDraft[]; dashboardStates: DashboardState[] | null }> {
  if (asked.length === 0 && (!ownership.prune || owned.size === 0)) return { dashboards: [], dashboardStates: null };
  const dashboardStates = await readDashboardStates(em, workspaceId, references);
  const pairs = paired(asked, dashboardStates, blocks);
  const dashboards = draftsOfPairs('dashboards', { pairs, states: dashboardStates }, { owned, ownership }, blocks);
  blockTooMany('dashboards', dashboards, { count: dashboardStates.length, max: MAX_DASHBOARDS }, blocks);
  return { dashboards, dashboardStates };
}

/** Devices that dashboards of the document name. */
export function devicesOfDashboards(dashboards: readonly DashboardDraft[]): DeviceReference[] {
  return staying(dashboards).flatMap(({ target }) =>
    widgetsOf(target).flatMap(({ source }) => (source !== undefined && 'devices' in source ? source.devices : [])),
  );
}

/**
 * Blocks dashboards over what is not there; `products` and `devices`: names, as they are once the document is applied. Also
 * those that stay as they are: what they name may go with this very document.
 */
export function checkDashboards(
  dashboards: readonly DashboardDraft[],
  { products, devices }: Record<'products' | 'devices', ReadonlySet<string>>,
  blocks: Block[],
): void {
  for (const { path, target, pending } of staying(dashboards))
    for (const [at, { source }] of widgetsOf(target).entries()) {
      const block = (below: string, message: string): void =>
        void blocks.push({ path: `${path}.widgets[${at}].source.${below}`, message });
      if (source === undefined || 'tags' in source) continue;
      if ('product' in source) {
        const name = nameOfReference(source.product);
        if (!products.has(name)) block('product', noProduct(name));
        continue;
      }
      if (source.devices.length === 0 && pending.length > 0)
        block('devices', 'name at least one; what the widget showed may be gone.');
      for (const [index, device] of source.devices.entries()) {
        const name = nameOfReference(device.product);
        if (!products.has(name)) block(`devices[${index}]`, noProduct(name));
        else if (!devices.has(nameOfDevice(device))) block(`devices[${index}]`, noDevice(device));
      }
    }
}

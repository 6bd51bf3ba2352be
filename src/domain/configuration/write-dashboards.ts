import { newDashboard } from '../dashboards/new-dashboard.ts';
import { DashboardSchema } from '../entities/dashboard.ts';
import { WorkspaceSchema } from '../entities/workspace.ts';
import type { DashboardDraft } from './dashboard-plan.ts';
import { sourcedWidgets, widgetsOf } from './dashboard-shape.ts';
import type { Writing } from './write-products.ts';
import { must } from '../../must.ts';

/** Writes dashboards; `products` and `devices`: ids by the names that the document has for them. */
export async function writeDashboards(
  { em, workspaceId, now }: Writing,
  dashboards: readonly DashboardDraft[],
  { products, devices }: Record<'products' | 'devices', ReadonlyMap<string, string>>,
): Promise<void> {
  const productId = (name: string): string => must(products.get(name));
  const deviceId = (name: string): string => must(devices.get(name));
  for (const { state, target, pending } of dashboards) {
    if (pending.length === 0) continue;
    if (target === undefined) {
      em.remove(await em.findOneOrFail(DashboardSchema, { key: must(state).key }));
      continue;
    }
    const authorKey = (target['key'] as string | undefined) ?? null;
    const name = target['name'] as string;
    const widgets = JSON.stringify(sourcedWidgets(widgetsOf(target), { productId, deviceId }));
    if (state === null) {
      const workspace = em.getReference(WorkspaceSchema, workspaceId);
      newDashboard(em, { workspace, name, authorKey, createdFrom: null, widgets, now });
    } else {
      const row = await em.findOneOrFail(DashboardSchema, { key: state.key });
      Object.assign(row, { name, authorKey, widgets });
    }
  }
  await em.flush();
}

import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import { must } from '../../must.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import type { DeviceList } from '../devices/device-list.ts';
import type { Asker } from '../devices/device-scan.ts';
import { type Dashboard, DashboardSchema } from '../entities/dashboard.ts';
import { checkAuthorKey, findByAuthorKey, requireFreeAuthorKey } from '../keys/author-key.ts';
import { requireSameInput, type SealedParts, sealParts } from '../keys/same-input.ts';
import type { Database } from '../ports/database.ts';
import { readDashboards } from '../products/dashboard-rows.ts';
import { seenWidgets } from '../products/dashboard.ts';
import { checkText } from '../text/text.ts';
import { coversSources } from './covers-sources.ts';
import { newDashboard } from './new-dashboard.ts';
import { checkSourcedWidgets, type SourcedWidget, sourcesOf } from './source.ts';

/** Maximum dashboards per workspace. */
export const MAX_DASHBOARDS = 100;

/** A dashboard as a client sends it; `id` null: a new one. */
interface DashboardInput {
  id?: string | null | undefined;
  workspaceId?: string | null | undefined;
  name: string;
  widgets: unknown;
  /** undefined: that of an existing one stays; null: none. */
  key?: string | null | undefined;
}

interface DashboardServiceDeps {
  database: Database;
  devices: DeviceList;
  now: () => number;
}

/** Dashboards over devices of a workspace: all who may READ it see them, those who may CONFIGURE it change them. */
export class DashboardService {
  readonly #deps: DashboardServiceDeps;

  constructor(deps: DashboardServiceDeps) {
    this.#deps = deps;
  }

  /** The dashboards of the workspace, by name; not for limited tokens. */
  async ofWorkspace(access: Access, workspaceId: string): Promise<Dashboard[]> {
    access.requireWorkspace(workspaceId, 'READ');
    access.requireUnlimited();
    const found = await this.#deps.database.read().find(DashboardSchema, { workspace: workspaceId });
    return found.toSorted((a, b) => a.name.localeCompare(b.name) || a.key - b.key);
  }

  /** A dashboard. A limited token sees it when it covers every device of its widgets; NOT_FOUND else. */
  async get(access: Access, id: string, asker?: Asker): Promise<Dashboard> {
    const found = await findDashboard(this.#deps.database.read(), id);
    if (found === null || !access.seesWorkspace(found.workspace.id)) throw notFound('dashboard', id);
    access.requireWorkspace(found.workspace.id, 'READ');
    if (access.limited) {
      const { database, devices } = this.#deps;
      const sources = sourcesOf(await this.#widgetsOf(found));
      if (!(await coversSources({ database, devices }, access, found.workspace.id, sources, asker)))
        throw notFound('dashboard', id);
    }
    return found;
  }

  /** The widgets as a token limited to fields sees them; `text`: their JSON text. */
  async seenBy(access: Access, dashboard: Dashboard, text: string): Promise<SourcedWidget[]> {
    const rows = await this.#deps.database
      .read()
      .execute<{ identifier: string }[]>(
        'select distinct f.identifier from field f join product p on p."key" = f.product_key where p.workspace_id = ?',
        [dashboard.workspace.id],
      );
    const covers = (identifier: string): boolean => access.coversField(identifier);
    const hidden = new Set(rows.map(({ identifier }) => identifier).filter((identifier) => !covers(identifier)));
    return seenWidgets(JSON.parse(text) as SourcedWidget[], covers, hidden);
  }

  /**
   * Makes a dashboard, or replaces the name and the widgets of one; the last one to save it wins. A new one with a key
   * that one has already: that one, unchanged, when the input describes it, else CONFLICT (`requireSameInput`).
   */
  async save(access: Access, { id, workspaceId, name, widgets, key }: DashboardInput): Promise<Dashboard> {
    const { database, now } = this.#deps;
    checkText(name, 'name', { max: 200 });
    const text = JSON.stringify(checkSourcedWidgets(widgets));
    const authorKey = checkAuthorKey(key, 'key');
    if (id != null)
      return database.write(async (em) => {
        const found = await this.#lock(em, access, id);
        const of = found.workspace.id;
        if (workspaceId != null && workspaceId.toLowerCase() !== of)
          throw badInput('workspaceId: a dashboard stays in its workspace; leave it out.');
        if (authorKey !== null && authorKey !== found.authorKey) {
          await lockWorkspace(em, of);
          const wanted = { workspaceId: of, key: authorKey, own: found.id, what: 'dashboard', path: 'key' };
          await requireFreeAuthorKey(em, DashboardSchema, wanted);
        }
        if (key !== undefined) found.authorKey = authorKey;
        found.name = name;
        found.widgets = text;
        return found;
      });
    const of = workspaceId ?? soleWorkspace(access, 'workspaceId');
    access.requireWorkspace(of, 'CONFIGURE');
    return database.write(async (em) => {
      (await holdRights(em, access, now(), { workspaces: { id: of } })).requireWorkspace(of, 'CONFIGURE');
      const workspace = await lockWorkspace(em, of);
      const parts = partsOf(name, text);
      const existing = authorKey === null ? null : await findByAuthorKey(em, DashboardSchema, of, authorKey);
      if (existing !== null) {
        await requireSameDashboard(em, existing, parts);
        return existing;
      }
      if ((await em.count(DashboardSchema, { workspace: of })) >= MAX_DASHBOARDS)
        throw badInput(`A workspace has at most ${MAX_DASHBOARDS} dashboards; delete one first.`);
      const createdFrom = authorKey === null ? null : parts;
      return newDashboard(em, { workspace, name, authorKey, createdFrom, widgets: text, now: now() });
    });
  }

  /** Deletes a dashboard; what it showed stays. Returns the id. */
  async delete(access: Access, id: string): Promise<string> {
    const gone = await this.#deps.database.write(async (em) => {
      const found = await this.#lock(em, access, id);
      em.remove(found);
      return { id: found.id };
    });
    return gone.id;
  }

  async #widgetsOf({ key, id }: Dashboard): Promise<SourcedWidget[]> {
    const text = (await readDashboards(this.#deps.database, 'dashboard', [key])).get(key);
    if (text === undefined) throw notFound('dashboard', id);
    return JSON.parse(text) as SourcedWidget[];
  }

  /** The dashboard for a change, locked until the transaction ends. */
  async #lock(em: EntityManager, access: Access, id: string): Promise<Dashboard> {
    const seen = await findDashboard(em, id);
    if (seen === null || !access.seesWorkspace(seen.workspace.id)) throw notFound('dashboard', id);
    const of = seen.workspace.id;
    access.requireWorkspace(of, 'CONFIGURE');
    (await holdRights(em, access, this.#deps.now(), { workspaces: { id: of } })).requireWorkspace(of, 'CONFIGURE');
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const found = await em.findOne(DashboardSchema, { key: seen.key }, lock);
    if (found === null) throw notFound('dashboard', id);
    return found;
  }
}

function partsOf(name: string, widgets: string): SealedParts {
  return sealParts({ name, widgets: JSON.parse(widgets) as unknown });
}

async function requireSameDashboard(em: EntityManager, dashboard: Dashboard, asked: SealedParts): Promise<void> {
  await em.populate(dashboard, ['createdFrom', 'widgets']);
  const { id, name, authorKey, createdFrom, widgets } = dashboard;
  await requireSameInput({
    what: 'dashboard',
    id,
    name,
    key: must(authorKey),
    asked,
    created: createdFrom ?? null,
    present: () => Promise.resolve(partsOf(name, must(widgets))),
    under: '',
  });
}

async function findDashboard(em: EntityManager, id: string): Promise<Dashboard | null> {
  return id.includes('\0') ? null : em.findOne(DashboardSchema, { id: id.toLowerCase() });
}

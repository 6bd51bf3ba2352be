import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { noteChangeOf } from '../access/audit-trail.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { type DeviceView, DeviceViewSchema } from '../entities/device-view.ts';
import type { Workspace } from '../entities/workspace.ts';
import type { Database } from '../ports/database.ts';
import { checkText } from '../text/text.ts';
import { uuidV7 } from '../text/uuid.ts';

/** Maximum views that a workspace shares, and that a person has there. */
const MAX_VIEWS = 100;
/** Maximum characters of a name, and of a query. */
const MAX_NAME = 100;
const MAX_QUERY = 2_000;

/** A view as clients see it. */
interface ListedView {
  name: string;
  query: string;
  shared: boolean;
}

/** A view by its name: one that everybody in the workspace sees, or the caller's own. */
interface NamedView {
  workspaceId: string;
  name: string;
  shared: boolean;
}

/** Saved views of the device list: names for the queries of its address. */
export class DeviceViews {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Shared views and those of the caller, by name; none for a token that is limited. */
  async list(access: Access, workspaceId: string): Promise<ListedView[]> {
    if (!access.may(workspaceId, 'READ') || access.limited || access.fields !== null) return [];
    const whose = access.userId === null ? [{ user: null }] : [{ user: null }, { user: access.userId }];
    const views = await this.#database
      .read()
      .find(DeviceViewSchema, { workspace: workspaceId, $or: whose }, { orderBy: { name: 'asc', id: 'asc' } });
    return views.map(({ name, query, user }) => ({ name, query, shared: user === null }));
  }

  /** Saves a view, or gives the one of this name another query. BAD_USER_INPUT for more than there may be. */
  async save(access: Access, view: NamedView, query: string): Promise<Workspace> {
    const { workspaceId, shared } = view;
    const user = requireView(access, view);
    const name = checkText(view.name.trim(), 'name', { max: MAX_NAME });
    checkText(query, 'query', { max: MAX_QUERY, optional: true });
    return this.#database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const known = await em.findOne(DeviceViewSchema, { workspace: workspaceId, user, name });
      if (known !== null) known.query = query;
      else if ((await em.count(DeviceViewSchema, { workspace: workspaceId, user })) >= MAX_VIEWS)
        throw badInput(
          `There are ${MAX_VIEWS} ${shared ? 'shared views' : 'views of yours'} already; delete one first.`,
        );
      else em.create(DeviceViewSchema, { id: uuidV7(), workspace, user, name, query, createdAt: this.#now() });
      return workspace;
    });
  }

  /** Deletes a view, if there is one of this name. */
  async delete(access: Access, view: NamedView): Promise<Workspace> {
    const user = requireView(access, view);
    const { workspaceId, name } = view;
    return this.#database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      if (!name.includes('\0')) await em.nativeDelete(DeviceViewSchema, { workspace: workspaceId, user, name });
      return workspace;
    });
  }
}

/** The id of the user whose own view it is; null: a shared one, which needs CONFIGURE. */
function requireView(access: Access, { workspaceId, shared }: NamedView): DeviceView['id'] | null {
  access.requireWorkspace(workspaceId, shared ? 'CONFIGURE' : 'READ');
  if (shared) return null;
  const user = access.requireUser();
  noteChangeOf<Access>(workspaceId, `READ ${workspaceId}`, (present) => present.requireWorkspace(workspaceId, 'READ'));
  return user;
}

import type { EntityManager } from '@mikro-orm/core';
import type { Database } from '../ports/database.ts';
import { notFound } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { checkText } from '../text/text.ts';
import { type Access, scopesOfRole } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { seesUser } from '../access/find-user.ts';
import { type User, UserSchema } from '../entities/user.ts';
import { uuidV7 } from '../text/uuid.ts';
import { lockWorkspace, requireOtherAdmin } from './lock-workspace.ts';
import { MemberSchema, type Role } from '../entities/member.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';

/** The columns of a user that others see. */
type ShownUser = Pick<User, 'id' | 'email' | 'name' | 'operator'>;

interface WorkspaceServiceDeps {
  database: Database;
  cluster: Cluster;
  now: () => number;
}

/** Workspaces and their members (CONTRACT 1). */
export class WorkspaceService {
  readonly #deps: WorkspaceServiceDeps;

  constructor(deps: WorkspaceServiceDeps) {
    this.#deps = deps;
  }

  /** The workspaces where the token may READ, oldest first. FORBIDDEN when it sees workspaces but may read none. */
  async list(access: Access): Promise<Workspace[]> {
    if (access.workspaceIds().length === 0) return [];
    const ids = access.workspaceIdsWith('READ');
    return this.#deps.database.read().find(WorkspaceSchema, { id: { $in: ids } }, { orderBy: { id: 'asc' } });
  }

  async get(access: Access, id: string): Promise<Workspace> {
    access.requireWorkspace(id, 'READ');
    const workspace = await this.#deps.database.read().findOne(WorkspaceSchema, { id });
    if (workspace === null) throw notFound('workspace', id);
    return workspace;
  }

  /** Members, oldest user first. People's addresses are not for a token limited to some products or devices. */
  async members(access: Access, workspaceId: string): Promise<{ user: ShownUser; role: Role }[]> {
    access.requireWorkspace(workspaceId, 'READ');
    access.requireUnlimited();
    // Read plain rows: thousands of entities would block the event loop.
    const rows = await this.#deps.database.read().execute<(ShownUser & { role: Role })[]>(
      `select u.id, u.email, u.name, u.operator, m.role from member m join user_account u on u.id = m.user_id
       where m.workspace_id = ? order by u.id`,
      [workspaceId],
    );
    // SQLite has no booleans.
    return rows.map(({ role, operator, ...user }) => ({ user: { ...user, operator: Boolean(operator) }, role }));
  }

  /** Makes a workspace, for operators; the calling user becomes its first ADMIN. */
  async create(access: Access, name: string): Promise<Workspace> {
    const allow = (present: Access): string => {
      present.requireOperator();
      // The user stays a member for good.
      present.requireOutlasts(null);
      return present.requireUser();
    };
    const userId = allow(access);
    checkText(name, 'name', { max: 200 });
    const workspace = await this.#deps.database.write(async (em) => {
      allow(await holdRights(em, access, this.#deps.now()));
      const created = em.create(WorkspaceSchema, { id: uuidV7(), name, writeRate: null, createdAt: this.#deps.now() });
      em.create(MemberSchema, { workspace: created, user: userId, role: 'ADMIN' });
      return created;
    });
    await this.#deps.cluster.changed([{ kind: 'user', id: userId }]);
    access.join(workspace.id, 'ADMIN');
    return workspace;
  }

  /** Renames the workspace, for ADMINs. */
  async rename(access: Access, id: string, name: string): Promise<Workspace> {
    access.requireWorkspace(id, 'ADMIN');
    checkText(name, 'name', { max: 200 });
    return this.#deps.database.write(async (em) => {
      const workspace = await lockWorkspace(em, id);
      workspace.name = name;
      return workspace;
    });
  }

  /**
   * Adds the user or changes their role, for ADMINs. A user who only belongs to workspaces that the token does not see
   * does not exist for it, unless it is an operator's. CONFLICT when the last ADMIN would be lowered.
   */
  async setMember(access: Access, workspaceId: string, userId: string, role: Role): Promise<Workspace> {
    const allow = (present: Access): void => {
      present.requireWorkspace(workspaceId, 'ADMIN');
      // A token grants no scope that it lacks, and none that outlasts it.
      for (const scope of scopesOfRole(role)) present.requireWorkspace(workspaceId, scope);
      present.requireOutlasts(null);
    };
    allow(access);
    const workspace = await this.#deps.database.write(async (em) => {
      const users = { id: userId.replaceAll('\0', '') };
      const present = await holdRights(em, access, this.#deps.now(), { users, workspaces: { id: workspaceId } });
      allow(present);
      const locked = await lockWorkspace(em, workspaceId);
      const member = await findMember(em, workspaceId, userId);
      if (member !== null) {
        if (role !== 'ADMIN') await requireOtherAdmin(em, workspaceId, userId);
        member.role = role;
        return locked;
      }
      const user = /\0/.test(userId) ? null : await em.findOne(UserSchema, { id: userId });
      if (user === null || !(await seesUser(em, present, user))) throw notFound('user', userId);
      em.create(MemberSchema, { workspace: locked, user, role });
      return locked;
    });
    await this.#deps.cluster.changed([{ kind: 'user', id: userId }]);
    return workspace;
  }

  /** Removes the user, for ADMINs. CONFLICT for the last ADMIN. */
  async removeMember(access: Access, workspaceId: string, userId: string): Promise<Workspace> {
    access.requireWorkspace(workspaceId, 'ADMIN');
    const workspace = await this.#deps.database.write(async (em) => {
      const present = await holdRights(em, access, this.#deps.now(), { workspaces: { id: workspaceId } });
      present.requireWorkspace(workspaceId, 'ADMIN');
      const locked = await lockWorkspace(em, workspaceId);
      const member = await findMember(em, workspaceId, userId);
      if (member === null) throw notFound('member', userId);
      await requireOtherAdmin(em, workspaceId, userId);
      em.remove(member);
      return locked;
    });
    await this.#deps.cluster.changed([{ kind: 'user', id: userId }]);
    return workspace;
  }
}

/** The membership; null: none. */
async function findMember(em: EntityManager, workspaceId: string, userId: string) {
  return userId.includes('\0') ? null : em.findOne(MemberSchema, { workspace: workspaceId, user: userId });
}

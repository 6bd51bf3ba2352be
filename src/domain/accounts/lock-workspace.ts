import { type EntityManager, LockMode } from '@mikro-orm/core';
import { notFound, conflict } from '../../errors.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';
import { MemberSchema } from '../entities/member.ts';

/**
 * The workspace, locked until the transaction ends, so that counts made in it (members, devices of a plan) stay true.
 * On SQLite there is one writer anyway. Lock a product first, if at all: the order prevents deadlocks.
 */
export async function lockWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  const workspace = await em.findOne(WorkspaceSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (workspace === null) throw notFound('workspace', id);
  return workspace;
}

/** CONFLICT when the user is the last ADMIN among the members of a workspace. */
export async function requireOtherAdmin(em: EntityManager, workspaceId: string, userId: string): Promise<void> {
  const admins = await em.find(MemberSchema, { workspace: workspaceId, role: 'ADMIN' }, { limit: 2 });
  if (admins.length === 1 && admins[0]?.user.id === userId)
    throw conflict('This is the last ADMIN of the workspace; make somebody else ADMIN first.');
}

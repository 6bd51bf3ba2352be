import { type EntityManager, LockMode } from '@mikro-orm/core';
import { notFound } from '../../errors.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';

/**
 * The workspace, locked until the transaction ends, so that counts made in it (members, devices of a plan) stay true.
 * On SQLite there is one writer anyway. Lock a product first, if at all: the order prevents deadlocks.
 */
export async function lockWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  const workspace = await em.findOne(WorkspaceSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (workspace === null) throw notFound('workspace', id);
  return workspace;
}

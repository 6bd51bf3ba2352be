import { type EntityManager, LockMode } from '@mikro-orm/core';
import { notFound } from '../../errors.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';

/**
 * The workspace, held until the transaction ends: what is counted meanwhile (members, devices of a plan) stays counted.
 * On SQLite there is one writer anyway. Lock a product first, if at all: the order keeps out deadlocks.
 */
export async function lockWorkspace(em: EntityManager, id: string): Promise<Workspace> {
  const workspace = await em.findOne(WorkspaceSchema, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (workspace === null) throw notFound('workspace', id);
  return workspace;
}

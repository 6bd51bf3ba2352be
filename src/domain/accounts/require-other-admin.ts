import type { EntityManager } from '@mikro-orm/core';
import { conflict } from '../../errors.ts';
import { MemberSchema } from '../entities/member.ts';

/** CONFLICT when the user is the last ADMIN among the members of a workspace. */
export async function requireOtherAdmin(em: EntityManager, workspaceId: string, userId: string): Promise<void> {
  const admins = await em.find(MemberSchema, { workspace: workspaceId, role: 'ADMIN' }, { limit: 2 });
  if (admins.length === 1 && admins[0]?.user.id === userId)
    throw conflict('This is the last ADMIN of the workspace; make somebody else ADMIN first.');
}

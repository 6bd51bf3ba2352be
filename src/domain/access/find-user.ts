import type { EntityManager } from '@mikro-orm/core';
import { MemberSchema } from '../entities/member.ts';
import type { User } from '../entities/user.ts';
import type { Access } from './access.ts';

/**
 * True when the user exists for the token: a member of a workspace that it sees, or of none; an operator's token sees
 * everyone.
 */
export async function seesUser(em: EntityManager, access: Access, user: User): Promise<boolean> {
  if (access.operator) return true;
  const places = await em.find(MemberSchema, { user: user.id });
  return places.length === 0 || places.some((place) => access.seesWorkspace(place.workspace.id));
}

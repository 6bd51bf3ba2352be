import type { EntityManager } from '@mikro-orm/core';
import { MemberSchema } from '../entities/member.ts';
import type { User } from '../entities/user.ts';
import type { Access } from './access.ts';

/**
 * Whether the user exists for the token: who only belongs to workspaces that it does not see does not, unless it is an
 * operator's.
 */
export async function seesUser(em: EntityManager, access: Access, user: User): Promise<boolean> {
  if (access.operator) return true;
  const places = await em.find(MemberSchema, { user: user.id });
  return places.length === 0 || places.some((place) => access.seesWorkspace(place.workspace.id));
}

import type { EntityManager } from '@mikro-orm/sql';
import { type Access, scopesOfRole } from '../access/access.ts';
import { seesUser } from '../access/find-user.ts';
import type { Role } from '../entities/member.ts';
import { UserSchema } from '../entities/user.ts';
import type { Draft } from './draft.ts';
import { type Block, blocking } from './shape.ts';
import type { MemberState } from './workspace-state.ts';
import { must } from '../../must.ts';

/** A member of a plan. */
export type MemberDraft = Draft<MemberState>;

/** Ids of the users that become members, by their addresses; those that the caller does not see are absent. */
export async function usersOf(
  em: EntityManager,
  access: Access,
  members: readonly MemberDraft[],
): Promise<Map<string, string>> {
  const emails = members
    .filter(({ state }) => state === null)
    .map(emailOf)
    .filter((email) => !email.includes('\0'));
  const ids = new Map<string, string>();
  if (emails.length === 0) return ids;
  for (const user of await em.find(UserSchema, { email: { $in: emails } }, { orderBy: { id: 'asc' } }))
    if (await seesUser(em, access, user)) ids.set(user.email, user.id);
  return ids;
}

/** The address of a member. */
export function emailOf({ target, is }: MemberDraft): string {
  return must(target ?? is)['email'] as string;
}

/** Blocks addresses without a user, roles that the caller may not give, and a workspace without ADMIN. */
export function checkMembers(
  {
    members,
    userIds,
    all,
  }: { members: readonly MemberDraft[]; userIds: ReadonlyMap<string, string>; all: readonly MemberState[] },
  { workspaceId, access }: { workspaceId: string; access: Access },
  blocks: Block[],
): void {
  const roles = new Map(all.map(({ email, role }) => [email, role]));
  for (const member of members.filter(({ pending }) => pending.length > 0)) {
    const { path, state, target } = member;
    const email = emailOf(member);
    if (target === undefined) {
      roles.delete(email);
      continue;
    }
    const role = target['role'] as Role;
    roles.set(email, role);
    if (state === null && !userIds.has(email))
      blocks.push({ path, message: `there is no user with the address "${email}"; create the user first.` });
    blocking(blocks, path, () => {
      for (const scope of scopesOfRole(role)) access.requireWorkspace(workspaceId, scope);
      access.requireOutlasts(null);
    });
  }
  const [had, has] = [all.map(({ role }) => role), [...roles.values()]].map((list) => list.includes('ADMIN'));
  if (had && !has)
    blocks.push({ path: 'members', message: 'would leave the workspace without an ADMIN; make somebody else ADMIN.' });
}

import type { EntityManager, Loaded } from '@mikro-orm/core';
import { MemberSchema, type Role } from '../entities/member.ts';
import { type Token, TokenSchema } from '../entities/token.ts';
import { Access, scopesOfRole } from './access.ts';

/** What a token may do, as the database has it at `now`; null: unknown, revoked or expired. */
export async function readAccess(
  em: EntityManager,
  which: { hash: string } | { id: string },
  now: number,
): Promise<Access | null> {
  const [access = null] = await readAccesses(em, which, now);
  return access;
}

/** The same for several; those that are gone or have expired are left out. */
export async function readAccesses(
  em: EntityManager,
  which: { hash: string } | { id: string | { $in: string[] } },
  now: number,
): Promise<Access[]> {
  const found = await em.find(TokenSchema, which, { populate: ['user'] });
  const tokens = found.filter(({ expiresAt }) => expiresAt == null || expiresAt > now);
  const users = new Set(tokens.flatMap(({ user }) => user?.id ?? []));
  const members = users.size === 0 ? [] : await em.find(MemberSchema, { user: { $in: [...users] } });
  const membersOf = Map.groupBy(members, ({ user }) => user.id);
  return tokens.map((token) => accessOf(token, membersOf.get(token.user?.id ?? '') ?? []));
}

function accessOf(token: Loaded<Token, 'user'>, members: { workspace: { id: string }; role: Role }[]): Access {
  const scopes =
    token.user == null
      ? new Map([[token.workspace?.id ?? '', new Set(token.scopes)]])
      : new Map(members.map((member) => [member.workspace.id, scopesOfRole(member.role)]));
  return new Access({
    tokenId: token.id,
    kind: token.kind,
    userId: token.user?.id ?? null,
    operator: token.user?.operator ?? false,
    scopes,
    productIds: token.productIds ?? null,
    deviceIds: token.deviceIds ?? null,
    expiresAt: token.expiresAt ?? null,
    signedIn: token.signedIn,
  });
}

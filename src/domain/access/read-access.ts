import type { EntityManager } from '@mikro-orm/core';
import type { EntityManager as SqlEntityManager } from '@mikro-orm/sql';
import { MemberSchema, type Role } from '../entities/member.ts';
import { type TokenKind, type TokenScope, TokenSchema } from '../entities/token.ts';
import { placeholders } from '../long-columns.ts';
import { Access, type AccessInit, scopesOfRole } from './access.ts';

/** What a token may do, as the database has it at `now`; null: unknown, revoked or expired. */
export async function readAccess(em: EntityManager, which: { id: string }, now: number): Promise<Access | null> {
  const [token] = await em.find(TokenSchema, which, { populate: ['user'] });
  if (token === undefined || (token.expiresAt != null && token.expiresAt <= now)) return null;
  const user = token.user ?? null;
  const members = user === null ? [] : await em.find(MemberSchema, { user: user.id });
  return accessOf({
    tokenId: token.id,
    kind: token.kind,
    userId: user?.id ?? null,
    workspaceId: token.workspace?.id ?? null,
    operator: user?.operator ?? false,
    scopes: token.scopes,
    roles: members.map(({ workspace, role }) => [workspace.id, role]),
    productIds: token.productIds ?? null,
    deviceIds: token.deviceIds ?? null,
    expiresAt: token.expiresAt ?? null,
    signedIn: token.signedIn,
  });
}

/** A token as it is kept, with what its user is in each workspace. */
interface KeptToken extends Omit<AccessInit, 'scopes'> {
  workspaceId: string | null;
  scopes: readonly TokenScope[];
  roles: (readonly [workspaceId: string, role: Role])[];
}

/** A user's token may what the user may; one of a workspace has its own scopes there. */
function accessOf({ workspaceId, scopes, roles, ...kept }: KeptToken): Access {
  return new Access({
    ...kept,
    scopes:
      kept.userId === null
        ? new Map([[workspaceId ?? '', new Set(scopes)]])
        : new Map(roles.map(([id, role]) => [id, scopesOfRole(role)])),
  });
}

interface TokenRow {
  id: string;
  kind: TokenKind;
  userId: string | null;
  workspaceId: string | null;
  scopes: unknown;
  productIds: unknown;
  deviceIds: unknown;
  expiresAt: number | string | null;
  signedIn: number | boolean;
  operator: number | boolean | null;
  memberOf: string | null;
  role: Role | null;
}

const TOKEN_WITH_MEMBERS = `select t.id, t.kind, t.user_id as "userId", t.workspace_id as "workspaceId", t.scopes,
    t.product_ids as "productIds", t.device_ids as "deviceIds", t.expires_at as "expiresAt", t.signed_in as "signedIn",
    u.operator, m.workspace_id as "memberOf", m.role
  from token t left join user_account u on u.id = t.user_id left join member m on m.user_id = t.user_id where`;

/**
 * The same of one token in one statement and without entities, which take a millisecond, with 2,000 ids twenty: whenever a
 * token is not in memory, and before every change, where what comes next must find all as it is in the database.
 */
export async function readPresentAccess(
  em: SqlEntityManager,
  which: { hash: string } | { id: string },
  now: number,
): Promise<Access | null> {
  const [where, value] = 'hash' in which ? ['t.hash = ?', which.hash] : ['t.id = ?', which.id];
  const [access = null] = accessesIn(await em.execute<TokenRow[]>(`${TOKEN_WITH_MEMBERS} ${where}`, [value]), now);
  return access;
}

/** The same of several, by their ids; those that are gone or have expired are left out. */
export async function readAccesses(em: SqlEntityManager, ids: readonly string[], now: number): Promise<Access[]> {
  const rows = await em.execute<TokenRow[]>(`${TOKEN_WITH_MEMBERS} t.id in (${placeholders(ids)})`, [...ids]);
  return accessesIn(rows, now);
}

function accessesIn(rows: readonly TokenRow[], now: number): Access[] {
  const json = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);
  return [...Map.groupBy(rows, ({ id }) => id).values()].flatMap((ofToken) => {
    const [token] = ofToken as [TokenRow];
    // PostgreSQL gives a bigint as text; SQLite keeps JSON as text.
    const expiresAt = token.expiresAt === null ? null : Number(token.expiresAt);
    if (expiresAt !== null && expiresAt <= now) return [];
    return accessOf({
      tokenId: token.id,
      kind: token.kind,
      userId: token.userId,
      workspaceId: token.workspaceId,
      operator: Boolean(token.operator),
      scopes: json(token.scopes) as TokenScope[],
      roles: ofToken.flatMap(({ memberOf, role }) =>
        memberOf === null || role === null ? [] : [[memberOf, role] as const],
      ),
      productIds: json(token.productIds) as string[] | null,
      deviceIds: json(token.deviceIds) as string[] | null,
      expiresAt,
      signedIn: Boolean(token.signedIn),
    });
  });
}

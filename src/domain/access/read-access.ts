import type { EntityManager } from '@mikro-orm/sql';
import type { Role } from '../entities/member.ts';
import type { TokenKind, TokenScope } from '../entities/token.ts';
import { placeholders } from '../sql/long-columns.ts';
import { Access, type AccessInit, scopesOfRole } from './access.ts';

/** A token as stored, with the roles of its user. */
interface KeptToken extends Omit<AccessInit, 'scopes'> {
  workspaceId: string | null;
  scopes: readonly TokenScope[];
  roles: (readonly [workspaceId: string, role: Role])[];
}

/** A PERSONAL token has the rights of its user; one of a workspace its own scopes there. */
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
  fields: unknown;
  expiresAt: number | string | null;
  signedIn: number | boolean;
  operator: number | boolean | null;
}

interface MemberRow {
  memberOf: string | null;
  role: Role | null;
}

const TOKEN = `t.id, t.kind, t.user_id as "userId", t.workspace_id as "workspaceId", t.scopes,
    t.product_ids as "productIds", t.device_ids as "deviceIds", t.fields, t.expires_at as "expiresAt",
    t.signed_in as "signedIn", u.operator`;
const MEMBER = 'm.workspace_id as "memberOf", m.role';
const FROM = 'from token t left join user_account u on u.id = t.user_id';

/**
 * The rights of a token in the database at `now`; null: unknown, revoked or expired. Reads in one statement and without
 * entities, which are slow for thousands of ids or workspaces: needed whenever a token is not cached, and before every
 * change, where later reads must find everything as stored.
 */
export async function readAccess(
  em: EntityManager,
  which: { hash: string } | { id: string },
  now: number,
): Promise<Access | null> {
  const [where, value] = 'hash' in which ? ['t.hash = ?', which.hash] : ['t.id = ?', which.id];
  const rows = await em.execute<(TokenRow & MemberRow)[]>(
    `select ${TOKEN}, ${MEMBER} ${FROM} left join member m on m.user_id = t.user_id where ${where}`,
    [value],
  );
  const [token] = rows;
  return token === undefined ? null : presentAccess(token, rows, now);
}

/**
 * The rights of several tokens, without those that are gone or expired. Reads the roles of a user with many tokens
 * once.
 */
export async function readAccesses(em: EntityManager, ids: readonly string[], now: number): Promise<Access[]> {
  if (ids.length === 0) return [];
  const tokens = await em.execute<TokenRow[]>(`select ${TOKEN} ${FROM} where t.id in (${placeholders(ids)})`, [...ids]);
  const users = [...new Set(tokens.flatMap(({ userId }) => userId ?? []))];
  const select = `select m.user_id as "userId", ${MEMBER} from member m where m.user_id in (${placeholders(users)})`;
  const members = users.length === 0 ? [] : await em.execute<(MemberRow & { userId: string })[]>(select, users);
  const membersOf = Map.groupBy(members, ({ userId }) => userId);
  return tokens.flatMap((token) => presentAccess(token, membersOf.get(token.userId ?? '') ?? [], now) ?? []);
}

function presentAccess(token: TokenRow, members: readonly MemberRow[], now: number): Access | null {
  // PostgreSQL gives a bigint as text; SQLite keeps JSON as text.
  const expiresAt = token.expiresAt === null ? null : Number(token.expiresAt);
  if (expiresAt !== null && expiresAt <= now) return null;
  const json = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);
  return accessOf({
    tokenId: token.id,
    kind: token.kind,
    userId: token.userId,
    workspaceId: token.workspaceId,
    operator: Boolean(token.operator),
    scopes: json(token.scopes) as TokenScope[],
    roles: members.flatMap(({ memberOf, role }) =>
      memberOf === null || role === null ? [] : [[memberOf, role] as const],
    ),
    productIds: json(token.productIds) as string[] | null,
    deviceIds: json(token.deviceIds) as string[] | null,
    fields: json(token.fields) as string[] | null,
    expiresAt,
    signedIn: Boolean(token.signedIn),
  });
}

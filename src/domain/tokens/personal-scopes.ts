import { scopesOfRole } from '../access/access.ts';
import type { Database } from '../database.ts';
import { MemberSchema } from '../entities/member.ts';
import { TOKEN_SCOPES, type TokenScope } from '../entities/token.ts';

/** By user id: what PERSONAL tokens of the users may do in one workspace or another. */
export async function personalScopes(
  database: Database,
  userIds: readonly string[],
): Promise<Map<string, TokenScope[]>> {
  const members = await database.read().find(MemberSchema, { user: { $in: [...userIds] } });
  const byUser = Map.groupBy(members, ({ user }) => user.id);
  return new Map(
    [...byUser].map(([userId, own]) => {
      const scopes = own.map(({ role }) => scopesOfRole(role));
      return [userId, TOKEN_SCOPES.filter((scope) => scopes.some((granted) => granted.has(scope)))];
    }),
  );
}

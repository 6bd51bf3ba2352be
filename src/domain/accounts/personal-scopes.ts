import { scopesOfRole } from '../access/access.ts';
import type { Database } from '../ports/database.ts';
import type { Role } from '../entities/member.ts';
import { placeholders } from '../sql/long-columns.ts';
import { TOKEN_SCOPES, type TokenScope } from '../entities/token.ts';

/** Scopes that PERSONAL tokens of the users have in any workspace, by user id. */
export async function personalScopes(
  database: Database,
  userIds: readonly string[],
): Promise<Map<string, TokenScope[]>> {
  if (userIds.length === 0) return new Map();
  // Read each role once: a user may be a member of thousands of workspaces.
  const roles = await database
    .read()
    .execute<{ userId: string; role: Role }[]>(
      `select distinct user_id as "userId", role from member where user_id in (${placeholders(userIds)})`,
      [...userIds],
    );
  return new Map(
    [...Map.groupBy(roles, ({ userId }) => userId)].map(([userId, own]) => {
      const scopes = own.map(({ role }) => scopesOfRole(role));
      return [userId, TOKEN_SCOPES.filter((scope) => scopes.some((granted) => granted.has(scope)))];
    }),
  );
}

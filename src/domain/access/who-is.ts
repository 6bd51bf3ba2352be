import type { EntityManager } from '@mikro-orm/sql';

/** What a token is called, and the address of its user; null: unknown, or of no user. */
interface Who {
  tokenName: string | null;
  userEmail: string | null;
}

/** Who stands behind a token now. No entity of it: what comes next must find all as it is in the database. */
export async function whoIs(em: EntityManager, tokenId: string): Promise<Who> {
  const [row] = await em.execute<{ name: string; email: string | null }[]>(
    'select token.name, user_account.email from token ' +
      'left join user_account on user_account.id = token.user_id where token.id = ?',
    [tokenId],
  );
  return { tokenName: row?.name ?? null, userEmail: row?.email ?? null };
}

/** Who is named as the author of what a token saves: the address of its user, else its own name. */
export async function authorOf(em: EntityManager, tokenId: string): Promise<string | null> {
  const { userEmail, tokenName } = await whoIs(em, tokenId);
  return userEmail ?? tokenName;
}

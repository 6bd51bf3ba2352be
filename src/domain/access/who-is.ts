import type { EntityManager } from '@mikro-orm/sql';

/** The name of a token, and the address of its user; null: unknown, or no user. */
interface Who {
  tokenName: string | null;
  userEmail: string | null;
}

/** Name and user of a token now. Reads no entity: later reads must find everything as stored. */
export async function whoIs(em: EntityManager, tokenId: string): Promise<Who> {
  const [row] = await em.execute<{ name: string; email: string | null }[]>(
    'select token.name, user_account.email from token ' +
      'left join user_account on user_account.id = token.user_id where token.id = ?',
    [tokenId],
  );
  return { tokenName: row?.name ?? null, userEmail: row?.email ?? null };
}

/** The author of a token's changes: the address of its user, else its own name. */
export async function authorOf(em: EntityManager, tokenId: string): Promise<string | null> {
  const { userEmail, tokenName } = await whoIs(em, tokenId);
  return userEmail ?? tokenName;
}

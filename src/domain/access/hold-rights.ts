import { type EntityName, type FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { unauthenticated } from '../../errors.ts';
import { type Token, TokenSchema } from '../entities/token.ts';
import { type User, UserSchema } from '../entities/user.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';
import type { Access } from './access.ts';
import { readAccess } from './read-access.ts';

/** Beside the caller's own user and token: what the right is in, and what is changed. */
interface Held {
  users?: FilterQuery<User>;
  workspaces?: FilterQuery<Workspace>;
  tokens?: FilterQuery<Token>;
}

/**
 * For whatever makes, widens or ends a right for good: what the caller may do within this transaction, and, in the
 * workspaces named, until it ends; UNAUTHENTICATED when the token is gone. Whoever ends the caller's right is done before
 * this or comes after it. Everything is locked in one order, so that no two wait for each other: users, workspaces,
 * tokens, each by id; products, if at all, before them. On SQLite there is one writer anyway.
 */
export async function holdRights(em: EntityManager, access: Access, now: number, held: Held = {}): Promise<Access> {
  const { userId, tokenId } = access;
  await lockRows(em, UserSchema, [userId === null ? undefined : { id: userId }, held.users]);
  await lockRows(em, WorkspaceSchema, [held.workspaces]);
  await lockRows(em, TokenSchema, [{ id: tokenId }, held.tokens]);
  const present = await readAccess(em, { id: tokenId }, now);
  if (present === null) throw unauthenticated();
  return present;
}

/** The rows that one of the filters names, held until the transaction ends. */
async function lockRows<Row extends { id: string }>(
  em: EntityManager,
  schema: EntityName<Row>,
  filters: (FilterQuery<Row> | undefined)[],
): Promise<void> {
  const $or = filters.filter((filter) => filter !== undefined);
  if ($or.length === 0) return;
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' }, refresh: true };
  await em.find(schema, { $or } as FilterQuery<Row>, options as object);
}

import { type EntityName, type FilterQuery, LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { unauthenticated } from '../../errors.ts';
import { type Token, TokenSchema } from '../entities/token.ts';
import { type User, UserSchema } from '../entities/user.ts';
import { type Workspace, WorkspaceSchema } from '../entities/workspace.ts';
import type { Access } from './access.ts';
import { readAccess } from './read-access.ts';

/** Rows to lock beside the caller's own user and token: the places of the right, and the objects of the change. */
interface Held {
  users?: FilterQuery<User>;
  workspaces?: FilterQuery<Workspace>;
  tokens?: FilterQuery<Token>;
}

/**
 * Required to make, widen or end a right for good: the caller's rights within this transaction, which stay, in the
 * workspaces named, until it ends; UNAUTHENTICATED when the token is gone. A change that ends the caller's right
 * commits before this or waits for it. Everything is locked in one order, against deadlocks: users, workspaces, tokens,
 * each by id; products, if at all, before them. On SQLite there is one writer anyway.
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

/** Locks the rows that the filters match until the transaction ends. */
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

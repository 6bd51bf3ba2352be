import type { EntityName, FilterQuery } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { badInput, conflict } from '../../errors.ts';

const KEY = /^[a-z0-9-]{1,64}$/;

/** An object of a workspace that may have a key of its author's choice. */
interface Keyed {
  id: string;
  name: string;
  authorKey?: string | null | undefined;
}

/** The key (CONTRACT 11), null when left out; BAD_USER_INPUT naming `path`, with a key that would do, for any other text. */
export function checkAuthorKey(key: string | null | undefined, path: string): string | null {
  if (key == null) return null;
  if (KEY.test(key)) return key;
  const usable = key
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-|-$/g, '');
  throw badInput(
    `${path}: ${JSON.stringify(key.slice(0, 70).toWellFormed())} is no key: 1 to 64 characters of a-z 0-9 -` +
      `${usable === '' ? '' : `, such as "${usable}"`}.`,
  );
}

/** The object of the workspace with the key; null: none. Lock the workspace first where the answer decides a write. */
export async function findByAuthorKey<Row extends Keyed>(
  em: EntityManager,
  schema: EntityName<Row>,
  workspaceId: string,
  key: string,
): Promise<Row | null> {
  return em.findOne(schema, { workspace: workspaceId, authorKey: key } as FilterQuery<Row>) as Promise<Row | null>;
}

/**
 * CONFLICT naming the object that has the key already, other than `own`. Lock the workspace first. `what`: the kind of
 * object, for the message.
 */
export async function requireFreeAuthorKey<Row extends Keyed>(
  em: EntityManager,
  schema: EntityName<Row>,
  { workspaceId, key, own, what, path }: { workspaceId: string; key: string; own: string; what: string; path: string },
): Promise<void> {
  const other = await findByAuthorKey(em, schema, workspaceId, key);
  if (other === null || other.id === own) return;
  throw conflict(`${path}: the ${what} "${other.name}" has the key "${key}" already.`, { existingId: other.id });
}

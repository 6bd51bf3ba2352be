import { type EntityManager, type EntityName, type FilterQuery, LockMode } from '@mikro-orm/core';
import { notFound } from '../../errors.ts';
import type { Access, ProductPlace } from './access.ts';
import type { TokenScope } from '../entities/token.ts';
import { type Product, ProductSchema } from '../entities/product.ts';

/** The place of a product row, for `Access`; its workspace need not be loaded. */
export function placeOfProduct(product: { id: string; workspace: { id: string } }): ProductPlace {
  return { id: product.id, workspaceId: product.workspace.id };
}

/** The product, when the token has the scope for it; NOT_FOUND or FORBIDDEN else. */
export async function findProduct(em: EntityManager, access: Access, id: string, scope: TokenScope): Promise<Product> {
  return find(em, access, id, scope);
}

/** The same by key in a workspace (CONTRACT 11); a refusal names the key, as the id is not known. */
export async function findProductByKey(
  em: EntityManager,
  access: Access,
  { workspaceId, key }: { workspaceId: string; key: string },
  scope: TokenScope,
): Promise<Product> {
  if (!access.seesWorkspace(workspaceId)) throw notFound('workspace', workspaceId);
  const product = key.includes('\0')
    ? null
    : await em.findOne(ProductSchema, { workspace: workspaceId, authorKey: key, deletedAt: null });
  if (product === null || !access.coversProduct(placeOfProduct(product))) throw notFound('product', key);
  access.requireProduct(placeOfProduct(product), scope);
  return product;
}

/**
 * Like `findProduct`, and locked until the transaction ends, so that the facts found in it (serial numbers, number of
 * fields) stay true. On SQLite there is one writer anyway.
 */
export async function lockProduct(em: EntityManager, access: Access, id: string, scope: TokenScope): Promise<Product> {
  return find(em, access, id, scope, LockMode.PESSIMISTIC_WRITE);
}

/**
 * A part of a product by its small key (`where` null: the id names none), its product locked like by `lockProduct`;
 * NOT_FOUND, `what` with the id, or FORBIDDEN.
 */
export async function lockPart<Part extends { product: Product }>(
  em: EntityManager,
  access: Access,
  schema: EntityName<Part>,
  { what, id, where }: { what: string; id: string; where: FilterQuery<Part> | null },
): Promise<Part> {
  const seen = where === null ? null : await em.findOne(schema, where, { populate: ['product'] as never });
  if (where === null || seen === null || !access.coversProduct(placeOfProduct(seen.product))) throw notFound(what, id);
  await lockProduct(em, access, seen.product.id, 'CONFIGURE');
  // Read again: it may have been removed while waiting for the lock.
  const part = await em.findOne(schema, where, { refresh: true });
  if (part === null) throw notFound(what, id);
  return part;
}

async function find(
  em: EntityManager,
  access: Access,
  id: string,
  scope: TokenScope,
  lockMode?: LockMode.PESSIMISTIC_WRITE,
): Promise<Product> {
  const product = id.includes('\0')
    ? null
    : await em.findOne(
        ProductSchema,
        { id: id.toLowerCase(), deletedAt: null },
        lockMode === undefined ? {} : { lockMode, refresh: true },
      );
  if (product === null) throw notFound('product', id);
  access.requireProduct(placeOfProduct(product), scope);
  return product;
}

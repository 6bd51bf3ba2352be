import { type EntityManager, LockMode } from '@mikro-orm/core';
import { ProductSchema } from '../entities/product.ts';
import { type DecoderVersion, DecoderVersionSchema } from '../entities/decoder-version.ts';

/**
 * Adds the next version of the product's decoder and activates it. Locks the product's row until the transaction ends,
 * so that simultaneous saves get different numbers.
 */
export async function insertDecoderVersion(
  em: EntityManager,
  productKey: number,
  saved: { source: string; note: string | null; author: string | null },
  now: number,
): Promise<DecoderVersion> {
  await em.findOneOrFail(ProductSchema, { key: productKey }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  const options = { orderBy: { version: 'desc' }, fields: ['version'] } as const;
  const newest = await em.findOne(DecoderVersionSchema, { product: productKey }, options);
  const version = em.create(DecoderVersionSchema, {
    product: productKey,
    version: (newest?.version ?? 0) + 1,
    ...saved,
    createdAt: now,
  });
  await em.flush();
  await em.nativeUpdate(ProductSchema, { key: productKey }, { activeVersion: version.version });
  return version;
}

import { notFound } from '../../errors.ts';
import type { IngestCache, ProductInfo } from './ingest-cache.ts';
import type { Access } from '../access/access.ts';
import type { TokenScope } from '../entities/token.ts';
import { seenProduct } from './seen-fields.ts';

/** The product with the fields that the token sees, when it has the scope for it; NOT_FOUND or FORBIDDEN else. */
export async function visibleProduct(
  ingestCache: IngestCache,
  access: Access,
  id: string,
  scope: TokenScope,
): Promise<ProductInfo> {
  const product = id.includes('\0') ? null : await ingestCache.product(id.toLowerCase());
  if (product === null) throw notFound('product', id);
  access.requireProduct(product, scope);
  return seenProduct(access, product);
}

import { notFound } from '../../errors.ts';
import type { Catalogue, ProductInfo } from '../products/catalogue.ts';
import type { Access } from '../tokens/access.ts';
import type { TokenScope } from '../tokens/token.ts';

/** The product as ingest sees it, when the token has the scope for it; NOT_FOUND or FORBIDDEN else. */
export async function visibleProduct(
  catalogue: Catalogue,
  access: Access,
  id: string,
  scope: TokenScope,
): Promise<ProductInfo> {
  const product = id.includes('\0') ? null : await catalogue.product(id.toLowerCase());
  if (product === null) throw notFound('product', id);
  access.requireProduct(product, scope);
  return product;
}

import type { Access } from '../access/access.ts';
import { aliasesIn, fieldsByName } from './aliased-fields.ts';
import type { DeviceInfo, FieldInfo, ProductInfo } from './ingest-cache.ts';

/** Narrowed products, for as long as the token's access and the product's snapshot live. */
const narrowed = new WeakMap<Access, WeakMap<ProductInfo, ProductInfo>>();

/**
 * The product as the token sees it: with the fields that it covers alone, and then without configuration and decoder,
 * which tell of others. The same object each time.
 */
export function seenProduct(access: Access, product: ProductInfo): ProductInfo {
  if (access.fields === null) return product;
  const known = narrowed.get(access) ?? new WeakMap<ProductInfo, ProductInfo>();
  narrowed.set(access, known);
  const before = known.get(product);
  if (before !== undefined) return before;
  const fields = access.coveredFields([...product.fields.values()]);
  const seen = {
    ...product,
    fields: fieldsByName(
      fields,
      [...aliasesIn(product.fields)].map(([identifier, { key }]) => ({ identifier, fieldKey: key })),
    ),
    fieldsByKey: new Map(fields.map((field): [number, FieldInfo] => [field.key, field])),
    configuration: [],
    decoder: null,
    whole: product,
  };
  known.set(product, seen);
  return seen;
}

/** The device with its product as the token sees it. */
export function seenDevice(access: Access, device: DeviceInfo): DeviceInfo {
  return access.fields === null ? device : { ...device, product: seenProduct(access, device.product) };
}

/** Says why the token is shown no field of that name. */
export function noField(access: Access, identifier: string): string {
  if (!access.coversField(identifier)) return notCovered(identifier);
  return `there is no field "${identifier.slice(0, 64)}" (identifiers are case-sensitive).`;
}

/** Says that the token does not cover a field, in the same words whether or not there is one. */
export function notCovered(identifier: string): string {
  return `This token is limited to some fields, and "${identifier.slice(0, 64)}" is none of them (identifiers are case-sensitive).`;
}

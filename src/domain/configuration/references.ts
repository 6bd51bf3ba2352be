import { badInput } from '../../errors.ts';
import { isObject, shown } from './shape.ts';
import { must } from '../../must.ts';

/**
 * A product as a document names it: by its key, or one without a key by its name, and by its number (from 1, in the
 * order of creation) among those that share it.
 */
export type ProductReference = string | { name: string; nth?: number };

/** The reference as a document writes it. */
export function readProductReference(given: unknown, path: string): ProductReference {
  return readReference(given, path, 'a product');
}

function readReference(given: unknown, path: string, what: string): ProductReference {
  if (typeof given === 'string' && given !== '') return given;
  if (isObject(given)) {
    const { name, nth = 1, ...rest } = given;
    const isNumbered = typeof nth === 'number' && Number.isInteger(nth) && nth > 0;
    if (typeof name === 'string' && isNumbered && Object.keys(rest).length === 0) return productReference(name, nth);
  }
  throw badInput(`${path}: expected the key of ${what}, or {name} of one without a key, got ${shown(given)}.`);
}

/** The reference to a product without a key. */
export function productReference(name: string, nth: number): ProductReference {
  return nth === 1 ? { name } : { name, nth };
}

/** The name of the product that is referred to, by which it is known within a document. */
export function nameOfReference(reference: ProductReference): string {
  return typeof reference === 'string' ? reference : nameWithoutKey(reference.name, reference.nth ?? 1);
}

/** The name of something that has only a name, which others may share. In quotes: no key has any. */
export function nameWithoutKey(name: string, nth: number): string {
  return nth === 1 ? JSON.stringify(name) : `${JSON.stringify(name)}#${nth}`;
}

/** Numbers what shares a name, in its order from 1. */
export function numbering(): (name: string) => number {
  const seen = new Map<string, number>();
  return (name) => {
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return nth;
  };
}

/** What to say of a product that a reference leads to, and that there is not. */
export function noProduct(name: string): string {
  return `there is no product ${name}, in the workspace or in the document.`;
}

/** The same of a device of a product that there is. */
export function noDevice({ serialNumber }: DeviceReference): string {
  return `the product has no device with the serial number ${JSON.stringify(serialNumber)}.`;
}

/** A device as a document names it. */
export interface DeviceReference {
  product: ProductReference;
  serialNumber: string;
}

/** The reference as a document writes it. */
export function readDeviceReference(given: unknown, path: string): DeviceReference {
  if (isObject(given) && typeof given['serialNumber'] === 'string' && Object.keys(given).length === 2)
    return { product: readProductReference(given['product'], `${path}.product`), serialNumber: given['serialNumber'] };
  throw badInput(`${path}: expected {product, serialNumber} of a device, got ${shown(given)}.`);
}

/** The name of a device within a document. */
export function nameOfDevice({ product, serialNumber }: DeviceReference): string {
  return `${nameOfReference(product)}/${serialNumber}`;
}

/** An endpoint as a document names it: by its key, or one without a key by its name, likewise. */
export type EndpointReference = ProductReference;

/** The reference as a document writes it. */
export function readEndpointReference(given: unknown, path: string): EndpointReference {
  return readReference(given, path, 'an endpoint');
}

/** References, each once, in the order of their names. */
export function inOrder(references: readonly ProductReference[]): ProductReference[] {
  const byName = new Map(references.map((one) => [nameOfReference(one), one]));
  return [...byName.keys()].toSorted().map((name) => must(byName.get(name)));
}

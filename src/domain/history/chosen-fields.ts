import { badInput } from '../../errors.ts';
import type { DeviceInfo, FieldInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { notCovered } from '../ingest-cache/seen-fields.ts';
import { must } from '../../must.ts';

/** The fields of each device's product, by identifier; BAD_USER_INPUT for an identifier that none of them has. */
export function fieldsOfEach(
  devices: readonly DeviceInfo[],
  identifiers: readonly string[] | null | undefined,
): FieldInfo[][] {
  if (identifiers == null || devices.length <= 1)
    return devices.map(({ product }) => chosenFields(product, identifiers));
  const chosen = [...new Set(identifiers)];
  const unknown = chosen.find((identifier) => !devices.some(({ product }) => product.fields.has(identifier)));
  if (unknown !== undefined) throw noField(must(devices[0]).product, 'None of the products has a', unknown);
  return devices.map(({ product }) => chosen.flatMap((identifier) => product.fields.get(identifier) ?? []));
}

/** Calls `make` once per object. */
export function memoized<T extends object, R>(make: (object: T) => R): (object: T) => R {
  const made = new Map<T, R>();
  return (object) => {
    if (!made.has(object)) made.set(object, make(object));
    return made.get(object) as R;
  };
}

/** The product's fields by identifier, without duplicates; an unknown one is an error, never silently left out. */
export function fieldsOrError(product: ProductInfo, identifiers: readonly string[]): FieldInfo[] | Error {
  try {
    return chosenFields(product, identifiers);
  } catch (error) {
    return error as Error;
  }
}

/** The product's fields by identifier, all of them for null; BAD_USER_INPUT for an unknown one. */
export function chosenFields(product: ProductInfo, identifiers: readonly string[] | null | undefined): FieldInfo[] {
  if (identifiers == null) return [...product.fields.values()];
  return [...new Set(identifiers)].map((identifier) => {
    const field = product.fields.get(identifier);
    if (field === undefined) throw noField(product, 'The product has no', identifier);
    return field;
  });
}

function noField({ whole }: ProductInfo, there: string, identifier: string): Error {
  if (whole !== undefined) return badInput(notCovered(identifier));
  return badInput(`${there} field "${identifier.slice(0, 64)}" (identifiers are case-sensitive).`);
}

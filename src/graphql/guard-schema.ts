import { defaultFieldResolver, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import type { DevicePlace, ProductPlace } from '../domain/access/access.ts';
import { placeOfDevice } from '../domain/access/find-device.ts';
import { placeOfEndpoint } from '../domain/access/endpoint-place.ts';
import { placeOfProduct } from '../domain/access/find-product.ts';
import { OPEN_TO_FIELD_LIMITS } from '../domain/access/field-limits.ts';
import { type FieldRight, rightOfField, rightOfOperation } from '../domain/access/rights.ts';
import type { Device } from '../domain/entities/device.ts';
import type { Endpoint } from '../domain/entities/endpoint.ts';
import type { Product } from '../domain/entities/product.ts';
import type { GraphqlContext } from './context/graphql-context.ts';

/**
 * Puts the rights of `domain/access/rights` in front of every operation and every field that is not open to all. Throws
 * when one has no row there.
 */
export function guardSchema(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields()))
      if (roots.includes(type)) guardOperation(`${type.name}.${field.name}`, field);
      else guardField(type.name, field);
  }
}

function guardOperation(name: string, field: GraphQLField<unknown, GraphqlContext>): void {
  const right = rightOfOperation(name) ?? missing(name, 'ask for it');
  if (right.needs === 'everybody') return;
  const isOpen = OPEN_TO_FIELD_LIMITS.has(name);
  const guard = ({ access }: GraphqlContext): void => {
    access.requireOperation(right);
    if (!isOpen) access.requireAllFields();
  };
  const { resolve = defaultFieldResolver, subscribe } = field;
  field.resolve = (parent, args, context, info) => {
    guard(context);
    return resolve(parent, args, context, info) as unknown;
  };
  if (subscribe !== undefined)
    field.subscribe = (parent, args, context, info) => {
      guard(context);
      return subscribe(parent, args, context, info) as unknown;
    };
}

function guardField(type: string, field: GraphQLField<unknown, GraphqlContext>): void {
  const right = rightOfField(type, field.name) ?? missing(`${type}.${field.name}`, 'read it');
  const isOpen = OPEN_TO_FIELD_LIMITS.has(`${type}.${field.name}`);
  if (right.anyOf === 'any' && isOpen) return;
  const { resolve = defaultFieldResolver } = field;
  const placeOf = placeReader(type, right);
  field.resolve = (parent, args, context, info) => {
    context.access.requireField(right, placeOf(parent));
    if (!isOpen) context.access.requireAllFields();
    return resolve(parent, args, context, info) as unknown;
  };
}

function placeReader(type: string, { on }: FieldRight): (parent: unknown) => ProductPlace | DevicePlace | null {
  if (type === 'Device') return (parent) => placeOfDevice(parent as Device);
  if (type === 'Product') return (parent) => placeOfProduct(parent as Product);
  if (type === 'Endpoint') return (parent) => placeOfEndpoint(parent as Endpoint);
  if (on !== 'parent') throw new Error(`The row of ${type} needs a place, and it has none.`);
  // Any other field belongs to something that was guarded on the way to it, in one workspace for any token that has
  // less than READ there.
  return () => null;
}

function missing(name: string, what: string): never {
  throw new Error(`${name} has no row in src/domain/access/rights.ts: say there who may ${what}.`);
}

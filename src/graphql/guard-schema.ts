import {
  defaultFieldResolver,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isObjectType,
} from 'graphql';
import type { DevicePlace, ProductPlace } from '../domain/access/access.ts';
import { placeOfDevice } from '../domain/access/find-device.ts';
import { placeOfProduct } from '../domain/access/find-product.ts';
import { type FieldRight, rightOfField, rightOfOperation } from '../domain/access/rights.ts';
import type { Device } from '../domain/entities/device.ts';
import type { Product } from '../domain/entities/product.ts';
import { GraphqlContext } from './context/graphql-context.ts';
import { listInPlace } from './context/list-in-slices.ts';
import { whenKnown } from './context/promised.ts';
import { listInTurn } from './operation/list-in-turn.ts';

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
      else {
        guardField(type.name, field);
        countFailures(field);
      }
  }
}

function guardOperation(name: string, field: GraphQLField<unknown, GraphqlContext>): void {
  const right = rightOfOperation(name) ?? missing(name, 'ask for it');
  if (right.needs === 'everybody') return;
  const { resolve = defaultFieldResolver, subscribe } = field;
  field.resolve = (parent, args, context, info) => {
    context.access.requireOperation(right);
    return resolve(parent, args, context, info) as unknown;
  };
  if (subscribe !== undefined)
    field.subscribe = (parent, args, context, info) => {
      context.access.requireOperation(right);
      return subscribe(parent, args, context, info) as unknown;
    };
}

function guardField(type: string, field: GraphQLField<unknown, GraphqlContext>): void {
  const right = rightOfField(type, field.name) ?? missing(`${type}.${field.name}`, 'read it');
  if (right.anyOf === 'any') return;
  const { resolve = defaultFieldResolver } = field;
  const placeOf = placeReader(type, right);
  field.resolve = (parent, args, context, info) => {
    context.access.requireField(right, placeOf(parent));
    return resolve(parent, args, context, info) as unknown;
  };
}

/** A field of each item of a list may fail for each, and be asked for 190 times: of 100,000 errors telling took 10 s. */
function countFailures(field: GraphQLField<unknown, GraphqlContext>): void {
  const { resolve = isListOfObjects(field) ? defaultFieldResolver : undefined } = field;
  if (resolve === undefined) return;
  field.resolve = (parent, args, context, info) => {
    if (!(context instanceof GraphqlContext)) return resolve(parent, args, context, info) as unknown;
    context.answersWith(1);
    const counted = (value: unknown): unknown => {
      if (!Array.isArray(value)) return value;
      // What comes in slices counts where they are made.
      if (!(value[0] instanceof Promise)) context.answersWith(value.length);
      return whenKnown(listInPlace(value, context), (list) => listInTurn(list, context, info));
    };
    const failed = (error: unknown): never => {
      throw context.failure(error);
    };
    try {
      const value = resolve(parent, args, context, info) as unknown;
      return value instanceof Promise ? value.then(counted, failed) : counted(value);
    } catch (error) {
      return failed(error);
    }
  };
}

/** Those of pages are priced as what they are. */
function isListOfObjects({ name, type }: GraphQLField<unknown, GraphqlContext>): boolean {
  return name !== 'edges' && isListType(getNullableType(type)) && !isLeafType(getNamedType(type));
}

function placeReader(type: string, { on }: FieldRight): (parent: unknown) => ProductPlace | DevicePlace | null {
  if (type === 'Device') return (parent) => placeOfDevice(parent as Device);
  if (type === 'Product') return (parent) => placeOfProduct(parent as Product);
  if (on !== 'parent') throw new Error(`The row of ${type} needs a place, and it has none.`);
  // Whatever else there is belongs to something that was guarded on the way to it, in one workspace for any token that
  // has less than READ there.
  return () => null;
}

function missing(name: string, what: string): never {
  throw new Error(`${name} has no row in src/domain/access/rights.ts: say there who may ${what}.`);
}

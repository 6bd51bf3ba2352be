import { getNullableType, type GraphQLInputType, type GraphQLSchema, isInputObjectType, isListType } from 'graphql';
import { MUTATION_WAYS } from './mutation-ways.ts';
import { argsOf } from './operation.ts';
import { OUTPUT_WAYS } from './output-ways.ts';
import { nameOf, objectTypes, pathsFrom } from './paths.ts';
import { SUBSCRIPTION_WAYS } from './subscription-ways.ts';
import { unrealWorld } from './world.ts';

/**
 * What of the schema the walk has no way to: fields, arguments, fields of input objects and types, by name; and what its
 * tables name that the schema does not have.
 */
export function missingWays(schema: GraphQLSchema): string[] {
  const world = unrealWorld();
  const missing: string[] = [];
  const known = new Set<string>();
  for (const type of objectTypes(schema))
    for (const field of Object.values(type.getFields())) {
      const name = nameOf(type, field);
      known.add(name);
      const ways = argsOf(world, type, field);
      for (const { name: arg, type: of } of field.args) {
        const given = ways.filter((way) => Object.hasOwn(way, arg)).map((way) => way[arg]);
        missing.push(...partsMissing(of, given, `${name}(${arg})`));
      }
      for (const arg of new Set(ways.flatMap((way) => Object.keys(way))))
        if (!field.args.some((one) => one.name === arg)) missing.push(`${name}(${arg}) is not in the schema`);
    }
  const named = [
    ...Object.keys(OUTPUT_WAYS),
    ...Object.keys(MUTATION_WAYS).map((name) => `Mutation.${name}`),
    ...Object.keys(SUBSCRIPTION_WAYS).map((name) => `Subscription.${name}`),
  ];
  missing.push(...named.filter((name) => !known.has(name)).map((name) => `${name} is not in the schema`));
  for (const root of [schema.getMutationType(), schema.getSubscriptionType()])
    for (const field of Object.values(root?.getFields() ?? {}))
      if (!named.includes(nameOf(root!, field))) missing.push(nameOf(root!, field));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const reached = new Set(roots.flatMap((root) => (root ? [...pathsFrom(root).keys()] : [])));
  missing.push(...objectTypes(schema).flatMap(({ name }) => (reached.has(name) ? [] : [name])));
  return [...new Set(missing)];
}

function partsMissing(type: GraphQLInputType, given: readonly unknown[], name: string): string[] {
  if (given.length === 0) return [name];
  const known = getNullableType(type);
  if (isListType(known))
    return isInputObjectType(getNullableType(known.ofType)) ? partsMissing(known.ofType, given.flat(), name) : [];
  if (!isInputObjectType(known)) return [];
  const objects = given.filter(
    (value): value is Record<string, unknown> => typeof value === 'object' && value !== null,
  );
  return Object.values(known.getFields()).flatMap((part) => {
    const values = objects.filter((one) => Object.hasOwn(one, part.name)).map((one) => one[part.name]);
    return partsMissing(part.type, values, `${name}.${part.name}`);
  });
}

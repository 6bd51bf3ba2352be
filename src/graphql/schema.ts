import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync } from 'type-graphql';
import { GraphqlContext } from './context.ts';
import { RESOLVERS } from './resolvers/list.ts';

/** type-graphql wants one as soon as a subscription exists; ours all bring their own bounded stream. */
const NO_PUB_SUB = {
  publish: (): never => {
    throw new Error('Subscriptions of Inlet subscribe to the live feeds.');
  },
  subscribe: (): never => {
    throw new Error('Subscriptions of Inlet subscribe to the live feeds.');
  },
};

/**
 * The schema of all `RESOLVERS`, answered by one instance of each; a class without one is a mistake in the wiring. Only
 * for printing and checking documents no instances are needed.
 */
export function createSchema(instances: readonly object[] | null): GraphQLSchema {
  const byClass = new Map<unknown, object>(instances?.map((instance) => [instance.constructor, instance]));
  if (instances !== null)
    for (const wanted of RESOLVERS)
      if (!byClass.has(wanted)) throw new Error(`No instance of the resolver ${wanted.name} was wired.`);
  const schema = buildSchemaSync({
    resolvers: [...RESOLVERS],
    container: {
      get: (wanted: unknown) => byClass.get(wanted),
    },
    pubSub: NO_PUB_SUB,
    validate: false,
    // Introspects the whole schema: for the test and the printer, not for each start.
    skipCheck: instances !== null,
  });
  forgetBetweenMutations(schema);
  return schema;
}

/** The mutations of one operation run one after the other: each starts with nothing remembered. */
function forgetBetweenMutations(schema: GraphQLSchema): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { resolve } = field;
    field.resolve = (parent, args, context, info): unknown => {
      if (context instanceof GraphqlContext) context.forget();
      return resolve?.(parent, args, context, info);
    };
  }
}

import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import { GraphqlContext } from './context.ts';

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
 * The schema, answered by these resolver instances: exactly one of each class. Only for printing it, classes alone
 * will do.
 */
export function createSchema(
  resolvers: { instances: readonly object[] } | { classes: readonly Function[] },
): GraphQLSchema {
  const instances = 'instances' in resolvers ? resolvers.instances : [];
  const byClass = new Map<unknown, object>(instances.map((instance) => [instance.constructor, instance]));
  const classes = 'classes' in resolvers ? resolvers.classes : [...(byClass.keys() as MapIterator<Function>)];
  const schema = buildSchemaSync({
    resolvers: classes as NonEmptyArray<Function>,
    container: {
      get: (wanted: Function) => {
        const instance = byClass.get(wanted);
        if (instance === undefined) throw new Error(`No instance of the resolver ${wanted.name} was wired.`);
        return instance;
      },
    },
    pubSub: NO_PUB_SUB,
    validate: false,
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

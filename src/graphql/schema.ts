import 'reflect-metadata';
import type { GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql';
import type { AuditLog } from '../domain/audit/audit-log.ts';
import { GraphqlContext } from './context/graphql-context.ts';
import { guardSchema } from './guard-schema.ts';
import { type ResolverClass, type ResolverDeps, RESOLVERS } from './resolvers/resolvers.ts';

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
 * The schema of all `RESOLVERS`, answered by one instance of each, made of `deps`. Only for printing and for checking
 * documents none are needed (null).
 */
export function createSchema(deps: ResolverDeps | null): GraphQLSchema {
  const instances = new Map<unknown, object>();
  if (deps !== null) for (const [resolver, make] of RESOLVERS) instances.set(resolver, make(deps));
  const schema = buildSchemaSync({
    resolvers: [...RESOLVERS.keys()] as NonEmptyArray<ResolverClass>,
    container: {
      get: (wanted: unknown) => instances.get(wanted),
    },
    pubSub: NO_PUB_SUB,
    validate: false,
    // Introspects the whole schema: for the test and the printer, not for each start.
    skipCheck: deps !== null,
  });
  guardSchema(schema);
  wrapMutations(schema, deps?.auditLog ?? null);
  return schema;
}

/**
 * Starts each mutation of an operation with nothing remembered and with the rights of then, and gives it its entry in
 * the audit log when it succeeds.
 */
function wrapMutations(schema: GraphQLSchema, auditLog: AuditLog | null): void {
  for (const field of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { name, resolve } = field;
    field.resolve = async (parent, args, context, info): Promise<unknown> => {
      const work = (): unknown => resolve?.(parent, args, context, info);
      if (!(context instanceof GraphqlContext) || auditLog === null) return work();
      context.forget();
      // Earlier ones may have taken long, or the right itself.
      await context.renew();
      return auditLog.run(name, args, context.isAnonymous ? null : context.access, work);
    };
  }
}

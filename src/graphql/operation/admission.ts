import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { tooComplex } from './shape-limits.ts';
import { MAX_COST, operationCost } from './operation-cost.ts';

/** All that may be asked for without a token. Everything else is denied before any resolver runs. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set([
  'query.__schema',
  'query.__type',
  'query.__typename',
  'mutation.signIn',
  'mutation.__typename',
]);

/**
 * The last gate before a validated operation runs, the same for HTTP and WebSocket. Throws AppError UNAUTHENTICATED or
 * QUERY_TOO_COMPLEX.
 */
export function admit(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>> | null | undefined,
  context: GraphqlContext,
): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);

  const names = rootFields(operation.selectionSet, fragments);
  // The getter throws when there is no access.
  if (!names.every((name) => OPEN_TO_ALL.has(`${operation.operation}.${name}`))) void context.access;

  const cost = operationCost(schema, operation, fragments, variables ?? {});
  if (cost > MAX_COST) throw tooComplex('cost', MAX_COST, Math.ceil(cost));
}

function rootFields(set: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): string[] {
  const seen = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): string[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return collect(selection.selectionSet);
      const name = selection.name.value;
      const fragment = fragments.get(name);
      if (fragment === undefined || seen.has(name)) return [];
      seen.add(name);
      return collect(fragment.selectionSet);
    });
  return collect(set);
}

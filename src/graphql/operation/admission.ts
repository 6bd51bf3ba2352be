import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { rightOfOperation } from '../../domain/access/rights.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { tooComplex } from './shape-limits.ts';
import { MAX_COST, operationCost } from './operation-cost.ts';

/** What graphql-js answers by itself; a subscription to it is none. */
const META: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

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
  // Denied before any resolver runs: the getter throws when there is no access.
  if (!names.every((name) => isOpenToAll(operation.operation, name))) void context.access;

  const cost = operationCost(schema, operation, fragments, variables ?? {});
  if (cost > MAX_COST) throw tooComplex('cost', MAX_COST, Math.ceil(cost));
}

function isOpenToAll(operation: string, name: string): boolean {
  if (META.has(name)) return operation !== 'subscription';
  const type = operation.slice(0, 1).toUpperCase() + operation.slice(1);
  return rightOfOperation(`${type}.${name}`).needs === 'everybody';
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

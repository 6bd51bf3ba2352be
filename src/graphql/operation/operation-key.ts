import { hash } from 'node:crypto';
import { type DocumentNode, Kind, type OperationDefinitionNode, OperationTypeNode, visit } from 'graphql';
import type { CheckedDocument } from './checked-documents.ts';
import { must } from '../../must.ts';

/** A text that is equal for operations that are answered alike; subscriptions may begin anywhere. */
export function operationKey(
  { hash: text, document }: CheckedDocument,
  operation: OperationDefinitionNode,
  { variables }: { variables?: Record<string, unknown> | null | undefined },
): string {
  const beginning = operation.operation === OperationTypeNode.SUBSCRIPTION ? beginningOf(document, operation) : null;
  const given: [name: string, value: unknown][] = [];
  // Undeclared variables change nothing, and copying them takes long.
  for (const { variable } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    if (name !== beginning && Object.hasOwn(variables ?? {}, name)) given.push([name, must(variables)[name]]);
  }
  return hash('sha256', JSON.stringify([text, operation.name?.value, given]), 'base64url');
}

/** The variable that only says where the subscription begins; null: there is none. */
function beginningOf(document: DocumentNode, { selectionSet }: OperationDefinitionNode): string | null {
  const [field] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD) return null;
  const after = field.arguments?.find(({ name }) => name.value === 'after')?.value;
  if (after?.kind !== Kind.VARIABLE) return null;
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => {
      if (name.value === after.name.value) uses += 1;
    },
  });
  return uses === 1 ? after.name.value : null;
}

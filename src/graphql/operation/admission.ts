import { hash } from 'node:crypto';
import {
  getNamedType,
  getVariableValues,
  type GraphQLSchema,
  isLeafType,
  type OperationDefinitionNode,
  OperationTypeNode,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { rightOfOperation } from '../../domain/access/rights.ts';
import { badInput } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { checkInputs } from './input-limits.ts';
import { costOf, MAX_COST } from './operation-cost.ts';
import { fieldsLeft, type PlanSource } from './operation-plan.ts';
import type { OperationProfile } from './operation-profile.ts';
import { tooComplex } from './shape-limits.ts';
import { must } from '../../must.ts';

/** Fields that graphql-js answers by itself; a subscription to one is no subscription. */
const META: ReadonlySet<string> = new Set(['__schema', '__type', '__typename']);

/**
 * The last gate before a checked operation runs, the same for HTTP and WebSocket: its lists and its price. Throws AppError
 * UNAUTHENTICATED, BAD_USER_INPUT or QUERY_TOO_COMPLEX.
 */
export function admit(
  source: PlanSource,
  profile: OperationProfile,
  variables: Readonly<Record<string, unknown>>,
  context: GraphqlContext,
): number {
  const { schema, operation } = source;
  // Denied before any resolver runs: the getter throws when there is no access.
  if (![...profile.rootFields].every((name) => isOpenToAll(operation.operation, name))) void context.access;

  // Checked before they are converted: a body may hold very many entries.
  checkInputs(profile, operation, variables);
  const { values: coerced, mistaken } = coercedValues(schema, operation, variables);
  const cost = costOf(profile.price, coerced, mistaken);
  if (cost > MAX_COST) throw tooComplex('cost', MAX_COST, Math.ceil(cost));
  if (operation.operation === OperationTypeNode.SUBSCRIPTION) checkSubscription(source, coerced);
  return cost;
}

/** The variables that the operation declares, in that order: others change nothing, and a subscription would keep them. */
export function declaredVariables(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const declared = Object.create(null) as Record<string, unknown>;
  for (const { variable } of variableDefinitions) {
    const name = variable.name.value;
    if (Object.hasOwn(variables, name)) declared[name] = variables[name];
  }
  return declared;
}

/** A text that is equal for operations that are answered alike; subscriptions may begin anywhere. */
export function operationKey(
  documentHash: string,
  { name }: OperationDefinitionNode,
  { beginning }: Pick<OperationProfile, 'beginning'>,
  declared: Readonly<Record<string, unknown>>,
): string {
  const given = Object.entries(declared).filter(([variable]) => variable !== beginning);
  return hash('sha256', JSON.stringify([documentHash, name?.value, given]), 'base64url');
}

/**
 * The variables as execution will see them: converted, defaults filled in. Input objects are as they were sent: prices
 * only count them, and converting thousands of entries twice takes long. Execution refuses what cannot be converted:
 * here checking stops at the first mistake, as a body may hold very many.
 */
function coercedValues(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): { values: Record<string, unknown>; mistaken: boolean } {
  const leaves: VariableDefinitionNode[] = [];
  const values: Record<string, unknown> = {};
  for (const definition of operation.variableDefinitions ?? []) {
    const { name } = definition.variable;
    const known = typeFromAST(schema, definition.type as Parameters<typeof typeFromAST>[1]);
    if (known !== undefined && isLeafType(getNamedType(known))) leaves.push(definition);
    else if (Object.hasOwn(variables, name.value)) values[name.value] = variables[name.value];
  }
  const { coerced } = getVariableValues(schema, leaves, variables, { maxErrors: 0 });
  return { values: Object.assign(values, coerced), mistaken: coerced === undefined };
}

/** Refuses a subscription without a field: graphql-js expects one, and cannot say so where variables decide it. */
function checkSubscription(source: PlanSource, variables: Record<string, unknown>): void {
  let names: string[];
  try {
    names = fieldsLeft(source, variables);
  } catch {
    // A variable that does not fit: execution says so.
    return;
  }
  if (names.length === 0)
    throw badInput('Nothing of this subscription is left to run: @skip or @include leave out its field.');
  if (names.length > 1 || META.has(must(names[0])))
    throw badInput(`A subscription is to one field of the schema's Subscription, not to ${names.join(', ')}.`);
}

function isOpenToAll(operation: string, name: string): boolean {
  if (META.has(name)) return operation !== 'subscription';
  const type = operation.slice(0, 1).toUpperCase() + operation.slice(1);
  return rightOfOperation(`${type}.${name}`)?.needs === 'everybody';
}

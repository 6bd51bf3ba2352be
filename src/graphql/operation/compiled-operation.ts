import {
  type ExecutionArgs,
  type ExecutionResult,
  getVariableValues,
  GraphQLError,
  type OperationDefinitionNode,
} from 'graphql';
import { type PlannedField, plannedFields, planOperation, type PlanSource } from './operation-plan.ts';
import { type BetweenMutations, executePlanned } from './planned-execution.ts';

/**
 * Runs an operation: the event of a subscription as `rootValue`, null for the others; `betweenMutations` before each
 * mutation but the first, which fails with what it throws.
 */
export type Execute = (
  args: ExecutionArgs & { betweenMutations?: BetweenMutations | undefined },
) => ExecutionResult | Promise<ExecutionResult>;

/** Takes the place of a compiled operation, in tests; beside it, the execution by graphql-js. */
export type WatchExecution = (compiled: Execute, reference: Execute, operation: OperationDefinitionNode) => Execute;

/** Fields that the profiles and plans of a document may still have; one that does not fit is made each time. */
export interface DocumentRoom {
  fields: number;
}

/** Takes room for that many fields, if there is as much. */
export function takeRoom(room: DocumentRoom, fields: number): boolean {
  if (fields > room.fields) return false;
  room.fields -= fields;
  return true;
}

/**
 * An operation of a validated document, its fields found once for all its runs with the same values of the variables
 * `deciders`. It behaves as graphql-js does.
 */
export function compileOperation(source: PlanSource, deciders: readonly string[], room: DocumentRoom): Execute {
  const { schema, operation, fragments } = source;
  const facts = { schema, operation, fragments: Object.fromEntries(fragments) };
  const plans = new Map<string, readonly PlannedField[]>();
  const planFor = (variables: Record<string, unknown>): readonly PlannedField[] => {
    const choice = deciders.map((name) => String(variables[name])).join();
    let plan = plans.get(choice);
    if (plan !== undefined) return plan;
    plan = planOperation(source, variables);
    // A plan without fields takes room, too.
    if (takeRoom(room, Math.max(1, plannedFields(plan)))) plans.set(choice, plan);
    return plan;
  };
  return ({ variableValues, options, rootValue, contextValue, betweenMutations }) => {
    const { errors, coerced: variables } = getVariableValues(
      schema,
      operation.variableDefinitions ?? [],
      variableValues ?? {},
      { maxErrors: options?.maxCoercionErrors ?? 50 },
    );
    if (variables === undefined) return { errors };
    let fields: readonly PlannedField[];
    try {
      fields = planFor(variables);
    } catch (error) {
      // A directive that a variable leaves without its argument.
      if (error instanceof GraphQLError) return { data: null, errors: [error] };
      throw error;
    }
    return executePlanned({ ...facts, fields, rootValue, contextValue, variables, betweenMutations });
  };
}

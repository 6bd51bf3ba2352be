import {
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getVariableValues,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { GraphqlContext } from '../context/graphql-context.ts';
import { deciders, type PlannedField, plannedFields, planOperation, type PlanSource } from './operation-plan.ts';
import { executePlanned } from './planned-execution.ts';

/** Runs an operation: the event of a subscription as `rootValue`, null for the others. */
export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** How often what is asked for may change while two ways to answer are compared. */
const MOST_CHANGES = 5;

/** Fields that the plans of a document may still have; a plan that does not fit is made each time. */
export interface PlanRoom {
  fields: number;
}

interface Compilable {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  room: PlanRoom;
}

/** An operation of a validated document, its fields found once for all its runs. It behaves as graphql-js does. */
export function compileOperation(
  schema: GraphQLSchema,
  { fragments, room }: Compilable,
  operation: OperationDefinitionNode,
): Execute {
  const source: PlanSource = { schema, operation, fragments };
  const names = deciders(source);
  const facts = { schema, operation, fragments: Object.fromEntries(fragments) };
  const plans = new Map<string, readonly PlannedField[]>();
  const planFor = (variables: Record<string, unknown>): readonly PlannedField[] => {
    const choice = names.map((name) => String(variables[name])).join();
    let plan = plans.get(choice);
    if (plan !== undefined) return plan;
    plan = planOperation(source, variables);
    // One without any takes room, too.
    const fields = Math.max(1, plannedFields(plan));
    if (fields > room.fields) return plan;
    room.fields -= fields;
    plans.set(choice, plan);
    return plan;
  };
  return ({ variableValues, options, rootValue, contextValue }) => {
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
    return executePlanned({ ...facts, fields, rootValue, contextValue, variables });
  };
}

/** What the first run used up of the operation's points is not counted twice. */
function anew(args: ExecutionArgs): ExecutionArgs {
  const { contextValue } = args;
  return contextValue instanceof GraphqlContext ? { ...args, contextValue: contextValue.again() } : args;
}

/** For tests: runs a query both ways, and throws where the answers differ in anything that a client could see. */
export function comparing(compiled: Execute): Execute {
  return async (args) => {
    let expected = await execute(anew(args));
    for (let changes = 0; ; changes += 1) {
      const actual = await compiled(changes === 0 ? args : anew(args));
      if (visible(actual) === visible(expected)) return actual;
      // Others write meanwhile: only what is the same before and after must be the same in between.
      const later = await execute(anew(args));
      if (visible(actual) === visible(later)) return actual;
      if (visible(later) === visible(expected) || changes === MOST_CHANGES)
        throw new Error(`Compiled, the answer is ${visible(actual)}, with graphql-js ${visible(later)}.`);
      expected = later;
    }
  };
}

type Cause = Error & { code?: string };

/** Errors in the order of their places: the one in which they happen is free. */
function visible({ data, errors }: ExecutionResult): string {
  const seen = errors?.map(({ path, locations, message, originalError }) =>
    JSON.stringify([path, locations, message, (originalError as Cause | undefined)?.code]),
  );
  return JSON.stringify({ data, errors: seen?.toSorted() });
}

import {
  type DocumentNode,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  getOperationAST,
  getVariableValues,
  type GraphQLSchema,
} from 'graphql';
import { GraphqlContext } from '../context/graphql-context.ts';
import { deciders, type PlannedField, plannedFields, planOperation, type PlanSource } from './operation-plan.ts';
import { executePlanned } from './planned-execution.ts';

/** Runs an operation: the event of a subscription as `rootValue`, null for queries. */
export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** How often what is asked for may change while two ways to answer are compared. */
const MOST_CHANGES = 5;

/** How many more fields the plans of a document may have; what does not fit runs as it is. */
export interface PlanRoom {
  fields: number;
}

interface Compilable {
  document: DocumentNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  room: PlanRoom;
}

/**
 * The operation with its fields found once for all, or null when it has none of that name. It behaves as graphql-js
 * does, because wherever the two could differ (variables that do not fit, errors that no resolver threw) the answer is
 * thrown away and graphql-js asked: so only for what may run twice, queries and events of subscriptions.
 */
export function compileOperation(
  schema: GraphQLSchema,
  { document, fragments, room }: Compilable,
  operationName: string | undefined,
): Execute | null {
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const source: PlanSource = { schema, operation, fragments };
  const names = deciders(source);
  const facts = { schema, operation, fragments: Object.fromEntries(fragments) };
  const plans = new Map<string, readonly PlannedField[] | null>();
  const planFor = (variables: Record<string, unknown>): readonly PlannedField[] | null => {
    const choice = names.map((name) => String(variables[name])).join();
    let plan = plans.get(choice);
    if (plan !== undefined || room.fields <= 0) return plan ?? null;
    try {
      plan = planOperation(source, variables);
    } catch {
      // A directive without its argument: graphql-js says so.
      plan = null;
    }
    const fields = plan === null ? 0 : plannedFields(plan);
    if (fields > room.fields) plan = null;
    // That it has none takes room, too.
    room.fields -= plan === null ? 1 : fields;
    plans.set(choice, plan);
    return plan;
  };
  return (args) => {
    const definitions = operation.variableDefinitions ?? [];
    // What is wrong with them is for graphql-js to say: no further than the first mistake.
    const { coerced } = getVariableValues(schema, definitions, args.variableValues ?? {}, { maxErrors: 0 });
    const fields = coerced === undefined ? null : planFor(coerced);
    if (fields === null || coerced === undefined) return execute(args);
    const { rootValue, contextValue } = args;
    const planned = executePlanned({ ...facts, fields, rootValue, contextValue, variables: coerced });
    if (planned instanceof Promise) return planned.then((result) => result ?? execute(anew(args)));
    return planned ?? execute(anew(args));
  };
}

/** What the first run used up of the operation's points is not counted twice. */
function anew(args: ExecutionArgs): ExecutionArgs {
  const { contextValue } = args;
  return contextValue instanceof GraphqlContext ? { ...args, contextValue: contextValue.again() } : args;
}

/** For tests: runs both ways, and throws where the answers differ in anything that a client could see. */
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

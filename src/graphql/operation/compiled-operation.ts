import { execute, type ExecutionArgs, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { GraphqlContext } from '../context/graphql-context.ts';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';

/** Runs an operation: the event of a subscription as `rootValue`, null for queries. */
export type Execute = (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/**
 * The operation as a function of its own (graphql-jit), or null when it cannot be compiled. It behaves as graphql-js
 * does, because wherever the two could differ (variables that do not fit, errors that no resolver threw) the answer is
 * thrown away and graphql-js asked: so only for what may run twice, queries and events of subscriptions.
 */
export function compileOperation(
  schema: GraphQLSchema,
  { document, operationName }: Pick<ExecutionArgs, 'document' | 'operationName'>,
): Execute | null {
  const compiled = compileQuery(schema, document, operationName ?? undefined, { disablingCapturingStackErrors: true });
  if (!isCompiledQuery(compiled)) return null;
  return async (args) => {
    const result = await run(compiled, args);
    const isDoubtful = result.data === undefined || result.errors?.some(({ originalError }) => originalError == null);
    return isDoubtful ? execute(anew(args)) : result;
  };
}

async function run(compiled: CompiledQuery, args: ExecutionArgs): Promise<ExecutionResult> {
  const variables = (args.variableValues ?? {}) as Record<string, unknown>;
  return compiled.query(args.rootValue, args.contextValue, variables) as ExecutionResult;
}

/** What the first run used up of the operation's points is not counted twice. */
function anew(args: ExecutionArgs): ExecutionArgs {
  const { contextValue } = args;
  return contextValue instanceof GraphqlContext ? { ...args, contextValue: contextValue.fresh() } : args;
}

/** For tests: runs both ways, and throws where the answers differ in anything that a client could see. */
export function comparing(compiled: Execute): Execute {
  return async (args) => {
    const expected = await execute(anew(args));
    const actual = await compiled(args);
    if (visible(actual) === visible(expected)) return actual;
    throw new Error(`Compiled, the answer is ${visible(actual)}, with graphql-js ${visible(expected)}.`);
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

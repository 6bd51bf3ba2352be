import {
  createSourceEventStream,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  specifiedRules,
  validate,
} from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { AppError } from '../../errors.ts';
import { admit } from '../operation/admission.ts';
import { GraphqlContext } from '../context/graphql-context.ts';
import { parseWithinLimits } from '../operation/shape-limits.ts';
import { LiveIterator } from '../live/live-stream.ts';
import { type SocketSession, TRY_AGAIN_LATER } from './socket-session.ts';

export interface PreparedOperation {
  args: ExecutionArgs;
  operation: OperationDefinitionNode;
}

/** What Apollo Server does for HTTP: parse, validate, limits and access. The errors to report, or what to run. */
export function prepareOperation(
  schema: GraphQLSchema,
  payload: SubscribePayload,
  context: GraphqlContext,
): PreparedOperation | GraphQLError[] {
  try {
    const document = parseWithinLimits(payload.query);
    const mistakes = validate(schema, document, specifiedRules, { maxErrors: 20 });
    if (mistakes.length > 0) return mistakes.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
    const operation = getOperationAST(document, payload.operationName);
    if (!operation)
      return [coded('Say by operationName which operation of the document is to run.', 'OPERATION_RESOLUTION_FAILURE')];
    admit(schema, document, operation, payload.variables, context);
    return {
      operation,
      args: {
        schema,
        document,
        operationName: payload.operationName ?? null,
        variableValues: payload.variables ?? null,
        contextValue: context,
      },
    };
  } catch (error) {
    if (error instanceof AppError) return [new GraphQLError(error.message, { originalError: error })];
    if (error instanceof GraphQLError) return [withCode(error, 'GRAPHQL_PARSE_FAILED')];
    throw error;
  }
}

/** Runs a subscription; each event is answered with a fresh context. A reader too slow for it loses the connection. */
export async function subscribeLive(
  args: ExecutionArgs,
  session: SocketSession,
): Promise<AsyncIterableIterator<ExecutionResult> | ExecutionResult> {
  const stream = await createSourceEventStream(args);
  if (!(Symbol.asyncIterator in stream)) return stream;
  const context = args.contextValue instanceof GraphqlContext ? args.contextValue : null;
  return new LiveIterator(
    stream[Symbol.asyncIterator](),
    async (event) => {
      if (session.ending) return null;
      const result = await execute({ ...args, rootValue: event, contextValue: context?.fresh() });
      return session.ending ? null : result;
    },
    (error) => {
      if (!(error instanceof AppError) || error.code !== 'OVERLOADED') return false;
      session.end(TRY_AGAIN_LATER, 'subscriber too slow, resume with "after"');
      return true;
    },
  );
}

function coded(message: string, code: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

function withCode(error: GraphQLError, code: string): GraphQLError {
  const { nodes, source, positions, path, originalError } = error;
  return new GraphQLError(error.message, { nodes, source, positions, path, originalError, extensions: { code } });
}

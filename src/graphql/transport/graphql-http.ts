import type { IncomingMessage } from 'node:http';
import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { GraphQLError, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type Koa from 'koa';
import { AppError, badInput } from '../../errors.ts';
import { admit } from '../operation/admission.ts';
import { CheckedQueries } from '../operation/checked-documents.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { createErrorFormatter, type GraphqlLog } from './format-error.ts';
import { SHAPE_LIMITS } from '../operation/shape-limits.ts';

export interface GraphqlHttpDeps {
  schema: GraphQLSchema;
  /** The whole body as text; throws AppError BODY_TOO_LARGE. */
  readBody: (request: IncomingMessage) => Promise<string>;
  contextFor: (authorization: string | undefined) => Promise<GraphqlContext>;
  log: GraphqlLog;
}

const NO_SUBSCRIPTIONS = 'Subscriptions need a WebSocket on this path with the protocol graphql-transport-ws.';

/** `POST /graphql` (CONTRACT 7): an adapter between Koa and Apollo Server. */
export class GraphqlHttp {
  readonly #deps: GraphqlHttpDeps;
  readonly #apollo: ApolloServer<GraphqlContext>;
  readonly #queries = new CheckedQueries();
  readonly #format;

  constructor(deps: GraphqlHttpDeps) {
    this.#deps = deps;
    this.#format = createErrorFormatter(deps.log);
    this.#apollo = createApollo(deps, this.#format);
  }

  async start(): Promise<void> {
    await this.#apollo.start();
  }

  async stop(): Promise<void> {
    await this.#apollo.stop();
  }

  /** Answers the request. Throws AppError METHOD_NOT_ALLOWED and BODY_TOO_LARGE for the app's problem responder. */
  async handle(context: Koa.Context): Promise<void> {
    if (context.method !== 'POST')
      throw new AppError(
        'METHOD_NOT_ALLOWED',
        'GraphQL operations are sent by POST as JSON: {"query": "…", "variables": {…}}; subscriptions by WebSocket.',
        { details: { allow: 'POST' } },
      );
    // Whatever the content type says: browsers cannot send our Authorization header across sites unasked.
    const text = await this.#deps.readBody(context.req);
    let body: unknown;
    try {
      body = parseBody(text);
      if (typeof body === 'object' && body !== null && 'query' in body) this.#queries.check(body.query);
    } catch (error) {
      this.#refuse(context, error);
      return;
    }
    const headers = new HeaderMap();
    for (const [name, value] of Object.entries(context.headers))
      if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
    const response = await this.#apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method: 'POST', headers, search: '', body },
      context: () => this.#deps.contextFor(context.headers.authorization),
    });
    context.status = response.status ?? 200;
    for (const [name, value] of response.headers) context.set(name, value);
    // graphql 16 has no incremental results.
    context.body = response.body.kind === 'complete' ? response.body.string : '';
  }

  #refuse(context: Koa.Context, error: unknown): void {
    const wrapped = new GraphQLError('', { originalError: error instanceof Error ? error : new Error(String(error)) });
    const formatted = this.#format(wrapped.toJSON(), wrapped);
    context.status = error instanceof AppError ? 400 : 500;
    context.type = 'application/json';
    context.body = JSON.stringify({ errors: [formatted] });
  }
}

function parseBody(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body) && 'query' in body) return body;
  } catch {
    // Said below.
  }
  throw new AppError('INVALID_BODY', 'Send one JSON object: {"query": "…", "variables": {…}, "operationName": "…"}.');
}

function createApollo(
  { schema, log }: GraphqlHttpDeps,
  formatError: ReturnType<typeof createErrorFormatter>,
): ApolloServer<GraphqlContext> {
  const note = (level: 'warn' | 'error') => (message?: unknown) => log[level]({}, `Apollo Server: ${String(message)}`);
  return new ApolloServer<GraphqlContext>({
    schema,
    formatError,
    introspection: true,
    persistedQueries: false,
    stopOnTerminationSignals: false,
    csrfPrevention: false,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    nodeEnv: 'production',
    parseOptions: { maxTokens: SHAPE_LIMITS.tokens },
    validationOptions: { maxErrors: 20 },
    logger: { debug: () => {}, info: () => {}, warn: note('warn'), error: note('error') },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      {
        requestDidStart: async () => ({
          didResolveOperation: async ({ document, operation, request, contextValue }) => {
            if (operation === undefined) return;
            try {
              if (operation.operation === OperationTypeNode.SUBSCRIPTION) throw badInput(NO_SUBSCRIPTIONS);
              admit(schema, document, operation, request.variables, contextValue);
            } catch (error) {
              throw withStatus(error);
            }
          },
        }),
      },
    ],
  });
}

/** Apollo Server answers 500 before execution unless the error says which status. */
function withStatus(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const http =
    error.code === 'UNAUTHENTICATED'
      ? { status: 401, headers: new HeaderMap([['www-authenticate', 'Token']]) }
      : { status: 400 };
  return new GraphQLError(error.message, { originalError: error, extensions: { http } });
}

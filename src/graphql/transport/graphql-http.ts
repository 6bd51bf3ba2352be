import { ApolloServer, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type Koa from 'koa';
import { AppError, badInput, databaseAway } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { withErrors } from '../operation/large-answers.ts';
import type { AdmittedOperation, OperationRequest, Operations } from '../operation/operations.ts';
import { RefusedDocument } from '../operation/refused-document.ts';
import { createErrorFormatter, type GraphqlLog } from './format-error.ts';
import { lengthOfBody, readHttpRequest } from './http-request.ts';

interface GraphqlHttpDeps {
  operations: Operations;
  contextFor: (context: Koa.Context) => Promise<GraphqlContext>;
  log: GraphqlLog;
}

/** The context of Apollo Server: the admitted operation. */
interface ApolloContext {
  admitted: AdmittedOperation;
  requestId: string | undefined;
  /** Data too long to be written at once, and the errors beside it. Apollo Server copies the context, nothing in it. */
  long: { written: Buffer | null; errors: readonly GraphQLFormattedError[] | undefined };
}

/** Maximum characters of a body without a token: signing in is short. */
const MAX_OF_STRANGERS = 65_536;
/** Characters from which a body is read in its caller's turn: less takes two milliseconds at most. */
const LONG = 16_384;
const JSON_TYPE = 'application/json';
const RESPONSE_TYPE = 'application/graphql-response+json';
/** Stands for long data in Apollo Server, and for its text. */
const LONG_DATA = {};
const WRITTEN_BEFORE = '';
const NO_SUBSCRIPTIONS = 'Subscriptions need a WebSocket on this path with the protocol graphql-transport-ws.';

/** `/graphql` over HTTP (CONTRACT 7): an adapter between Koa, the operations and Apollo Server. */
export class GraphqlHttp {
  readonly #deps: GraphqlHttpDeps;
  readonly #apollo: ApolloServer<ApolloContext>;
  readonly #format;
  readonly #texts = new WeakMap<object, string>();

  constructor(deps: GraphqlHttpDeps) {
    this.#deps = deps;
    this.#format = createErrorFormatter(deps.log);
    this.#apollo = this.#createApollo();
  }

  /** Resolves when operations may come. */
  async start(): Promise<void> {
    await this.#apollo.start();
  }

  /** Operations that come later fail. */
  async stop(): Promise<void> {
    await this.#apollo.stop();
  }

  /** Answers a GET or POST. Throws AppError METHOD_NOT_ALLOWED for the app's problem responder. */
  async handle(context: Koa.Context): Promise<void> {
    let admitted: AdmittedOperation;
    try {
      const asking = await this.#deps.contextFor(context);
      context.res.once('close', () => {
        if (!context.res.writableFinished) asking.budget.end(new AppError('UNAVAILABLE', 'The client is gone.'));
      });
      admitted = await this.#deps.operations.admit(await this.#read(context, asking), asking);
      const { operation } = admitted.operation;
      if (operation === OperationTypeNode.SUBSCRIPTION) throw badInput(NO_SUBSCRIPTIONS);
      if (context.method === 'GET' && operation !== OperationTypeNode.QUERY) throw notAllowed('POST');
    } catch (error) {
      if (error instanceof AppError && error.code === 'METHOD_NOT_ALLOWED') throw error;
      this.#refuse(context, error);
      return;
    }
    const { query, operationName } = admitted.request;
    const asked: ApolloContext = {
      admitted,
      requestId: requestIdOf(context),
      long: { written: null, errors: undefined },
    };
    const response = await this.#apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        method: 'POST',
        headers: new HeaderMap([
          ['content-type', JSON_TYPE],
          ['accept', context.get('accept') || JSON_TYPE],
        ]),
        search: '',
        // The variables went with the admitted operation.
        body: { query, ...(operationName == null ? {} : { operationName }) },
      },
      context: async () => asked,
    });
    const unexecuted = response.status === 400 && wantsPlainJson(context);
    context.status = unexecuted ? 200 : (response.status ?? 200);
    for (const [name, value] of response.headers) context.set(name, value);
    // graphql 16 has no incremental results.
    const text = response.body.kind === 'complete' ? response.body.string : '';
    // Apollo Server may have answered something else after all.
    context.body = text === WRITTEN_BEFORE ? longAnswer(asked.long) : text;
  }

  /** Reads the operation: a long body in its caller's turn, and only with a token. */
  async #read(context: Koa.Context, asking: GraphqlContext): Promise<OperationRequest> {
    const { shares } = this.#deps.operations;
    const length = lengthOfBody(context);
    if (length > MAX_OF_STRANGERS) void asking.access;
    if (length > LONG) await shares.begin(asking.caller);
    const started = performance.now();
    try {
      return readHttpRequest(context);
    } finally {
      shares.spend(asking.caller, performance.now() - started);
    }
  }

  /** Answers with an error; by GraphQL over HTTP 200 for a document's mistakes, if only JSON is accepted. */
  #refuse(context: Koa.Context, error: unknown): void {
    const errors = error instanceof RefusedDocument ? error.errors : [wrap(error)];
    // The token may have been looked up in a database that is away.
    context.status = statusOf(databaseAway(error) ?? error, wantsPlainJson(context));
    if (context.status === 401) context.set('WWW-Authenticate', 'Token');
    if (context.status === 503) context.set('Retry-After', '1');
    context.type = context.accepts([JSON_TYPE, RESPONSE_TYPE]) || JSON_TYPE;
    context.body = JSON.stringify({ errors: this.#formatted(errors, requestIdOf(context)) });
  }

  #formatted(errors: readonly GraphQLError[], requestId: string | undefined): GraphQLFormattedError[] {
    return errors.map((error) => this.#format(error.toJSON(), error, requestId));
  }

  #createApollo(): ApolloServer<ApolloContext> {
    const { operations, log } = this.#deps;
    const note = (level: 'warn' | 'error') => (message?: unknown) =>
      log[level]({}, `Apollo Server: ${String(message)}`);
    return new ApolloServer<ApolloContext>({
      schema: operations.schema,
      formatError: this.#format,
      introspection: true,
      persistedQueries: false,
      stopOnTerminationSignals: false,
      csrfPrevention: false,
      allowBatchedHttpRequests: false,
      includeStacktraceInErrorResponses: false,
      nodeEnv: 'production',
      // Admitted documents are there: Apollo Server neither parses nor validates them again.
      documentStore: {
        get: async (key) => operations.documents.byHash(key.slice(key.lastIndexOf(':') + 1))?.document,
        set: async () => {},
        delete: async () => {},
      },
      stringifyResult: ({ data, errors }) => this.#text({ data, errors }),
      logger: { debug: () => {}, info: () => {}, warn: note('warn'), error: note('error') },
      plugins: [
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginLandingPageDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
        {
          requestDidStart: async () => ({
            responseForOperation: async ({ contextValue }) => {
              const { result, written } = await operations.execute(contextValue.admitted);
              const answer = this.#answer(result, contextValue.requestId);
              Object.assign(contextValue.long, { written, errors: answer.errors });
              return {
                // A result without data was not executed: the variables did not fit.
                http: { status: result.data === undefined ? 400 : undefined, headers: new HeaderMap() },
                body: { kind: 'single', singleResult: written === null ? answer : { data: LONG_DATA } },
              };
            },
          }),
        },
      ],
    });
  }

  /** Equal queries that share an answer have the same data. */
  #text({ data, errors }: { data?: object | null | undefined; errors?: unknown }): string {
    if (data === LONG_DATA) return WRITTEN_BEFORE;
    if (data == null || errors !== undefined) return `${JSON.stringify({ errors, data })}\n`;
    const known = this.#texts.get(data);
    if (known !== undefined) return known;
    const text = `${JSON.stringify({ data })}\n`;
    this.#texts.set(data, text);
    return text;
  }

  #answer({ data, errors }: ExecutionResult, requestId: string | undefined) {
    return {
      ...(errors === undefined ? {} : { errors: this.#formatted(errors, requestId) }),
      ...(data === undefined ? {} : { data }),
    };
  }
}

/** The id that the outer door has given the request. */
function requestIdOf({ res }: Koa.Context): string | undefined {
  const id = res.getHeader('X-Request-Id');
  return typeof id === 'string' ? id : undefined;
}

/** A long answer, written as `#text` does. */
function longAnswer({ written, errors }: ApolloContext['long']): Buffer | null {
  return written && withErrors(written, errors);
}

function wantsPlainJson(context: Koa.Context): boolean {
  const isNamed = context.get('accept').includes(JSON_TYPE);
  return isNamed && context.accepts([JSON_TYPE, RESPONSE_TYPE]) === JSON_TYPE;
}

function statusOf(error: unknown, plainJson: boolean): number {
  if (error instanceof RefusedDocument) return plainJson ? 200 : 400;
  if (!(error instanceof AppError)) return 500;
  if (error.code === 'UNAUTHENTICATED') return 401;
  return error.code === 'OVERLOADED' || error.code === 'UNAVAILABLE' ? 503 : 400;
}

function wrap(error: unknown): GraphQLError {
  const originalError = error instanceof Error ? error : new Error(String(error));
  return new GraphQLError(originalError.message, { originalError });
}

function notAllowed(allow: string): AppError {
  return new AppError(
    'METHOD_NOT_ALLOWED',
    'Send GraphQL operations by POST as JSON: {"query": "…", "variables": {…}}; queries also by GET; subscriptions by WebSocket.',
    { details: { allow } },
  );
}

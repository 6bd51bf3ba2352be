import { ApolloServer, type GraphQLResponse, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { type DocumentNode, GraphQLError, type GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type Koa from 'koa';
import { AppError, badInput, databaseAway } from '../../errors.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { RefusedDocument } from '../operation/checked-documents.ts';
import { withErrors } from '../operation/large-answers.ts';
import type { AdmittedOperation, OperationRequest, Operations } from '../operation/operations.ts';
import { createErrorFormatter, type GraphqlLog } from './format-error.ts';
import { lengthOfBody, readHttpRequest } from './http-request.ts';

interface GraphqlHttpDeps {
  operations: Operations;
  contextFor: (context: Koa.Context) => Promise<GraphqlContext>;
  log: GraphqlLog;
}

/** The context of Apollo Server: a document that was parsed and is valid. */
interface ApolloContext {
  document: DocumentNode;
}

/** Maximum characters of a body without a token: signing in is short. */
const MAX_OF_STRANGERS = 65_536;
/** Characters from which a body is read in its caller's turn: less takes two milliseconds at most. */
const LONG = 16_384;
const JSON_TYPE = 'application/json';
const RESPONSE_TYPE = 'application/graphql-response+json';
/** Tells Apollo Server that the operation runs: its answer is written here. */
const ACCEPTED: GraphQLResponse = {
  http: { status: undefined, headers: new HeaderMap() },
  body: { kind: 'single', singleResult: {} },
};
const NO_SUBSCRIPTIONS = 'Subscriptions need a WebSocket on this path with the protocol graphql-transport-ws.';

/**
 * `/graphql` over HTTP (CONTRACT 7): an adapter between Koa, Apollo Server and the operations. Apollo Server says whether
 * and with which headers an admitted operation may be answered; operations run and are written here.
 */
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
    try {
      const asking = await this.#deps.contextFor(context);
      context.res.once('close', () => {
        if (!context.res.writableFinished) asking.budget.end(new AppError('UNAVAILABLE', 'The client is gone.'));
      });
      const admitted = await this.#deps.operations.admit(await this.#read(context, asking), asking);
      const { operation } = admitted.operation;
      if (operation === OperationTypeNode.SUBSCRIPTION) throw badInput(NO_SUBSCRIPTIONS);
      if (context.method === 'GET' && operation !== OperationTypeNode.QUERY) throw notAllowed('POST');
      if (await this.#mayBeAnswered(context, admitted)) await this.#answer(context, admitted);
    } catch (error) {
      if (error instanceof AppError && error.code === 'METHOD_NOT_ALLOWED') throw error;
      this.#refuse(context, error);
    }
  }

  /** Asks Apollo Server, and sets the headers that it wants; where it refuses, its answer, too. */
  async #mayBeAnswered(context: Koa.Context, { request, checked }: AdmittedOperation): Promise<boolean> {
    const { query, operationName } = request;
    const { status, headers, body } = await this.#apollo.executeHTTPGraphQLRequest({
      httpGraphQLRequest: {
        method: 'POST',
        headers: new HeaderMap([
          ['content-type', JSON_TYPE],
          ['accept', context.get('accept') || JSON_TYPE],
        ]),
        search: '',
        body: { query, ...(operationName == null ? {} : { operationName }) },
      },
      context: async () => ({ document: checked.document }),
    });
    for (const [name, value] of headers) context.set(name, value);
    if (status === undefined) return true;
    context.status = status;
    // graphql 16 has no incremental results.
    context.body = body.kind === 'complete' ? body.string : '';
    return false;
  }

  async #answer(context: Koa.Context, admitted: AdmittedOperation): Promise<void> {
    const { result, written } = await this.#deps.operations.execute(admitted);
    const { data } = result;
    const errors = result.errors && this.#formatted(result.errors, requestIdOf(context));
    // A result without data was not executed: the variables did not fit.
    context.status = data !== undefined || wantsPlainJson(context) ? 200 : 400;
    if (written !== null) context.body = withErrors(written, errors);
    else if (data == null || errors !== undefined) context.body = `${JSON.stringify({ errors, data })}\n`;
    else context.body = this.#textOf(data);
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
      // What a store answers would take the place of the document that is set below.
      documentStore: null,
      logger: { debug: () => {}, info: () => {}, warn: note('warn'), error: note('error') },
      plugins: [
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginLandingPageDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
        {
          requestDidStart: async (request) => {
            // Neither parsed nor validated again.
            Object.assign(request, { document: request.contextValue.document });
            return { responseForOperation: async () => ACCEPTED };
          },
        },
      ],
    });
  }

  /** Writes data, once for equal queries that share an answer. */
  #textOf(data: object): string {
    const known = this.#texts.get(data);
    if (known !== undefined) return known;
    const text = `${JSON.stringify({ data })}\n`;
    this.#texts.set(data, text);
    return text;
  }
}

/** The id that the outer door has given the request. */
function requestIdOf({ res }: Koa.Context): string | undefined {
  const id = res.getHeader('X-Request-Id');
  return typeof id === 'string' ? id : undefined;
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

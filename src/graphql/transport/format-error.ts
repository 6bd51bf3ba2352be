import { randomBytes } from 'node:crypto';
import { GraphQLError, type GraphQLFormattedError, Kind } from 'graphql';
import { AppError, databaseAway, type ErrorCode } from '../../errors.ts';

/** The log of the door; a pino logger will do. */
export interface GraphqlLog {
  error(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

/** `extensions.code` of each error of the domain (CONTRACT 7). A code without a line here does not compile. */
const CODES: Record<ErrorCode, string> = {
  UNAUTHENTICATED: 'UNAUTHENTICATED',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  BAD_USER_INPUT: 'BAD_USER_INPUT',
  CONFLICT: 'CONFLICT',
  PLAN_LIMIT: 'PLAN_LIMIT',
  PLAN_OUTDATED: 'PLAN_OUTDATED',
  INVALID_DECODER: 'INVALID_DECODER',
  RATE_LIMITED: 'RATE_LIMITED',
  CURSOR_EXPIRED: 'CURSOR_EXPIRED',
  QUERY_TOO_COMPLEX: 'QUERY_TOO_COMPLEX',
  AMBIGUOUS_DEVICE: 'BAD_USER_INPUT',
  INVALID_JSON: 'BAD_USER_INPUT',
  INVALID_BODY: 'BAD_USER_INPUT',
  NOTHING_STORED: 'BAD_USER_INPUT',
  BODY_TOO_LARGE: 'BAD_USER_INPUT',
  TOO_MANY_ENTRIES: 'BAD_USER_INPUT',
  METHOD_NOT_ALLOWED: 'BAD_USER_INPUT',
  REQUEST_TIMEOUT: 'BAD_USER_INPUT',
  OVERLOADED: 'OVERLOADED',
  UNAVAILABLE: 'UNAVAILABLE',
};

/** Mistakes in the request itself, as Apollo Server names them; their messages come from graphql-js and hold no secret. */
const REQUEST_CODES: Readonly<Record<string, string>> = {
  GRAPHQL_PARSE_FAILED: 'GRAPHQL_PARSE_FAILED',
  GRAPHQL_VALIDATION_FAILED: 'GRAPHQL_VALIDATION_FAILED',
  PERSISTED_QUERY_NOT_SUPPORTED: 'PERSISTED_QUERY_NOT_SUPPORTED',
  BAD_USER_INPUT: 'BAD_USER_INPUT',
  BAD_REQUEST: 'BAD_USER_INPUT',
  OPERATION_RESOLUTION_FAILURE: 'BAD_USER_INPUT',
};

const INPUT_NODES: ReadonlySet<string> = new Set([
  Kind.VARIABLE_DEFINITION,
  Kind.VARIABLE,
  Kind.INT,
  Kind.FLOAT,
  Kind.STRING,
  Kind.BOOLEAN,
  Kind.NULL,
  Kind.ENUM,
  Kind.LIST,
  Kind.OBJECT,
]);

/** The beginning of graphql-js's own message. */
const TOO_MANY_MISTAKES = 'Too many errors processing variables';

/**
 * An error as it may leave, over HTTP and WebSocket alike: code, message, place, and the details of an AppError. An
 * error that is not meant for the client is logged under an id, and only the id leaves.
 */
export function createErrorFormatter(
  log: GraphqlLog,
): (formatted: GraphQLFormattedError, error: unknown, requestId?: string) => GraphQLFormattedError {
  return (formatted, error, requestId) => {
    const place = {
      ...(formatted.locations ? { locations: formatted.locations } : {}),
      ...(formatted.path ? { path: formatted.path } : {}),
    };
    const chain = causes(error);
    const own = chain.find((link) => link instanceof AppError) ?? databaseAway(chain.at(-1));
    if (own?.code === 'UNAVAILABLE') log.warn({ err: own.cause ?? own, requestId }, own.message);
    if (own != null) return { message: own.message, ...place, extensions: { ...own.details, code: CODES[own.code] } };
    if (chain.some(isAboutInput))
      return { message: formatted.message, ...place, extensions: { code: 'BAD_USER_INPUT' } };
    const code = REQUEST_CODES[String(formatted.extensions?.['code'])];
    if (code !== undefined) return { message: formatted.message, ...place, extensions: { code } };

    const errorId = randomBytes(6).toString('hex');
    log.error({ errorId, requestId, err: chain.at(-1) ?? error, path: formatted.path }, 'GraphQL resolver failed');
    return {
      message: `Internal error (${errorId}).`,
      ...place,
      extensions: { code: 'INTERNAL_SERVER_ERROR', errorId },
    };
  };
}

/** The error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let link = error; link instanceof Error && chain.length < 10;) {
    chain.push(link);
    link = link instanceof GraphQLError ? link.originalError : undefined;
  }
  return chain;
}

/** Whether graphql-js blames a value that the client gave: a literal, or a variable; too many of them have no place. */
function isAboutInput(error: Error): boolean {
  if (!(error instanceof GraphQLError)) return false;
  const node = error.nodes?.[0];
  return node === undefined ? error.message.startsWith(TOO_MANY_MISTAKES) : INPUT_NODES.has(node.kind);
}

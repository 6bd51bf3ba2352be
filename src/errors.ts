/** Every way Inlet says no. The closed union makes each door name a status for each code (CONTRACT 3, 7). */
export type ErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'CONFLICT'
  | 'PLAN_LIMIT'
  | 'INVALID_DECODER'
  | 'RATE_LIMITED'
  | 'CURSOR_EXPIRED'
  | 'QUERY_TOO_COMPLEX'
  | 'AMBIGUOUS_DEVICE'
  | 'INVALID_JSON'
  | 'INVALID_BODY'
  | 'NOTHING_STORED'
  | 'BODY_TOO_LARGE'
  | 'TOO_MANY_ENTRIES'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'OVERLOADED'
  | 'UNAVAILABLE';

export interface ErrorInit {
  /** Machine-readable facts for the client: never secrets. */
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** An error whose message is meant for the client: what was wrong, where, and what to do. Knows no transport. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, init: ErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'AppError';
    this.code = code;
    this.details = init.details ?? {};
  }
}

export const unauthenticated = (message: string): AppError => new AppError('UNAUTHENTICATED', message);
export const forbidden = (message: string): AppError => new AppError('FORBIDDEN', message);
/** Also for what another tenant owns: the two must not differ. */
export const notFound = (what: string, id: string): AppError =>
  new AppError('NOT_FOUND', `No ${what} "${id.slice(0, 100)}" is visible to this token.`);
export const badInput = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('BAD_USER_INPUT', message, details ? { details } : {});
export const conflict = (message: string): AppError => new AppError('CONFLICT', message);

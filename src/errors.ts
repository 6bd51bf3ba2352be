/** Every way Inlet says no. The closed union makes each transport name a status for each code (CONTRACT 3, 7). */
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

interface ErrorInit {
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

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** No token, or one that is unknown, expired or revoked (HTTP 401). */
export const unauthenticated = (message = 'This token is unknown, expired or revoked.'): AppError =>
  new AppError('UNAUTHENTICATED', message);

/** The token sees it but may not do this with it (HTTP 403). */
export const forbidden = (message: string): AppError => new AppError('FORBIDDEN', message);
/** Also for what another tenant owns: the two must not differ. */
export const notFound = (what: string, id: string): AppError => {
  // What exists is named as it is stored: in whatever case it was asked for, so is what does not.
  const named = UUID.test(id) ? id.toLowerCase() : id.slice(0, 100);
  return new AppError('NOT_FOUND', `No ${what} "${named}" is visible to this token.`);
};

/** An argument is wrong: the message begins with its path and says what would be right (HTTP 400). */
export const badInput = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('BAD_USER_INPUT', message, details ? { details } : {});

/** What is asked clashes with what is stored, for instance a name that is taken (HTTP 409). */
export const conflict = (message: string): AppError => new AppError('CONFLICT', message);

/** The database does not answer; the reason is for the log. */
export const noDatabase = (cause: unknown): AppError =>
  new AppError('UNAVAILABLE', 'The database does not answer. Try again in a moment.', { cause });

/**
 * How drivers name a database that is away, full, read-only or held by somebody else: by code, never by text. By SQLSTATE
 * there is no connection (08), login (28) or database (3D000); a standby only reads (25006); a transaction took too long
 * (25P03, 25P04, 72000) or lost against others (40); resources are used up (53), a lock is taken (55P03), somebody or a
 * limit ended it (57), a disk fails (58). What is wrong with a statement or the data (22, 23, 42, 54, XX, …) is not that.
 */
const AWAY =
  /^(?:ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_|EHOSTUNREACH$|ENETUNREACH$|08|25006|25P0[34]|28|3D000|4000|40P01|53|55P03|57014|57P0|58|72000|SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY))/;

/** The error as one for the client; null: it is a mistake of the server's. */
export function asAppError(error: unknown): AppError | null {
  return error instanceof AppError ? error : databaseAway(error);
}

/** The error as one for the client when it says that the database does not answer, wherever it came from; else null. */
export function databaseAway(error: unknown): AppError | null {
  for (let link = error, depth = 0; link instanceof Error && depth < 8; depth += 1) {
    const { code, name, errors } = link as Error & { code?: unknown; errors?: unknown[] };
    // Every complaint about a statement has a code: a driver's error without one is about the connection.
    const away = typeof code === 'string' ? AWAY.test(code) : name === 'DriverException';
    if (away) return noDatabase(error);
    link = errors?.[0] ?? link.cause;
  }
  return null;
}

/** Codes of all refusals. The closed union makes each transport name a status for each code (CONTRACT 3, 7). */
export type ErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'BAD_USER_INPUT'
  | 'CONFLICT'
  | 'PLAN_LIMIT'
  | 'PLAN_OUTDATED'
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
  /** Machine-readable facts for the client; never secrets. */
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

/** Error for no token, or one that is unknown, expired or revoked (HTTP 401). */
export const unauthenticated = (message = 'This token is unknown, expired or revoked.'): AppError =>
  new AppError('UNAUTHENTICATED', message);

/** Error for a visible thing that the token may not use so (HTTP 403). */
export const forbidden = (message: string): AppError => new AppError('FORBIDDEN', message);
/** Error for an unknown thing, and with the same words for one of another tenant. */
export const notFound = (what: string, id: string): AppError => {
  // Named as ids are stored, whatever the case in the request.
  const named = UUID.test(id) ? id.toLowerCase() : id.slice(0, 100);
  return new AppError('NOT_FOUND', `No ${what} "${named}" is visible to this token.`);
};

/** Error for a wrong argument: the message begins with its path and says what would be right (HTTP 400). */
export const badInput = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('BAD_USER_INPUT', message, details ? { details } : {});

/** Error for a clash with stored data, such as a taken name (HTTP 409); `existingId` in `details`: of what is there. */
export const conflict = (message: string, details?: Record<string, unknown>): AppError =>
  new AppError('CONFLICT', message, details ? { details } : {});

/** Error for a database that does not answer; the reason is for the log. */
export const noDatabase = (cause: unknown): AppError =>
  new AppError('UNAVAILABLE', 'The database does not answer. Try again in a moment.', { cause });

/**
 * Codes of a database that is away, full, read-only or locked. SQLSTATEs: no connection (08), login (28) or database
 * (3D000); a standby (25006); a transaction timed out (25P03, 25P04, 72000) or lost against others (40); resources are
 * used up (53), a lock is taken (55P03), a query was ended (57), a disk fails (58). Codes of a wrong statement or wrong
 * data (22, 23, 42, 54, XX, …) are not among them.
 */
const AWAY =
  /^(?:ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_|EHOSTUNREACH$|ENETUNREACH$|08|25006|25P0[34]|28|3D000|4000|40P01|53|55P03|57014|57P0|58|72000|SQLITE_(?:BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY))/;

/** The error as one for the client; null: it is a mistake of the server's. */
export function asAppError(error: unknown): AppError | null {
  return error instanceof AppError ? error : databaseAway(error);
}

/** The error for the client if it says, at any depth, that the database does not answer; else null. */
export function databaseAway(error: unknown): AppError | null {
  for (let link = error, depth = 0; link instanceof Error && depth < 8; depth += 1) {
    const { code, name, errors } = link as Error & { code?: unknown; errors?: unknown[] };
    // A driver's error about a statement has a code; one without is about the connection.
    const away = typeof code === 'string' ? AWAY.test(code) : name === 'DriverException';
    if (away) return noDatabase(error);
    link = errors?.[0] ?? link.cause;
  }
  return null;
}

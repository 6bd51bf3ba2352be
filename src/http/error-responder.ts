import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Logger } from 'pino';
import { SenderGone } from './body.ts';
import { requestIdOf } from './request-id.ts';
import { asAppError, type ErrorCode } from '../errors.ts';

/** A new code without a status does not compile. */
const STATUS: Record<ErrorCode, number> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  BAD_USER_INPUT: 400,
  CONFLICT: 409,
  PLAN_LIMIT: 402,
  PLAN_OUTDATED: 409,
  INVALID_DECODER: 422,
  RATE_LIMITED: 429,
  CURSOR_EXPIRED: 410,
  QUERY_TOO_COMPLEX: 400,
  AMBIGUOUS_DEVICE: 409,
  INVALID_JSON: 400,
  INVALID_BODY: 400,
  NOTHING_STORED: 400,
  BODY_TOO_LARGE: 413,
  TOO_MANY_ENTRIES: 413,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  OVERLOADED: 503,
  UNAVAILABLE: 503,
};

/** Headers of every answer: its Content-Type is exact, so no browser is to guess; the request's id. */
export function commonHeaders(response: ServerResponse): { 'X-Content-Type-Options': string; 'X-Request-Id': string } {
  return { 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestIdOf(response) };
}

/** Maximum seconds in `Retry-After`. */
const MAX_RETRY_AFTER = 86_400;

/** Header with the time to come again: from a second to a day. */
export function retryAfter(seconds: number): { 'Retry-After': string } {
  const whole = Number.isFinite(seconds) ? Math.min(Math.max(1, Math.ceil(seconds)), MAX_RETRY_AFTER) : 1;
  return { 'Retry-After': String(whole) };
}

/** RFC 9457, with the stable `code` and the details of the error (CONTRACT 3). */
interface Problem {
  status: number;
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/**
 * Turns any error into a problem; one that is not an AppError is logged with an id and leaves without details.
 * `response`: the one that it is for, whose request's id is logged too.
 */
export function toProblem(thrown: unknown, log: Logger, response?: ServerResponse): Problem {
  const error = asAppError(thrown);
  if (error === null) {
    const id = randomBytes(6).toString('hex');
    log.error({ err: thrown, id, requestId: response && requestIdOf(response) }, 'internal error');
    return problem(500, 'INTERNAL_SERVER_ERROR', `Internal error (${id}); the server's log has the details.`, {});
  }
  // An error without a cause only says that the server is stopping.
  if (error.code === 'UNAVAILABLE' && error.cause !== undefined)
    log.warn({ err: error.cause, requestId: response && requestIdOf(response) }, error.message);
  const status = STATUS[error.code];
  const { allow, retryAfterSeconds, ...details } = error.details;
  const { headers, body } = problem(status, error.code, error.message, details);
  if (status === 401 || status === 403) headers['WWW-Authenticate'] = 'Token';
  if (status === 429 || status === 503)
    Object.assign(headers, retryAfter(typeof retryAfterSeconds === 'number' ? retryAfterSeconds : 1));
  if (typeof allow === 'string') headers['Allow'] = allow;
  return { status, headers, body };
}

function problem(status: number, code: string, detail: string, details: Record<string, unknown>): Problem {
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json' },
    body: {
      type: `urn:inlet:problem:${code.toLowerCase().replaceAll('_', '-')}`,
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail,
      code,
      ...details,
    },
  };
}

/** Writes the problem; `extra` goes into its body. Does nothing when the client is gone or was answered already. */
export function respondWithProblem(
  response: ServerResponse,
  problem: Problem,
  extra: Record<string, unknown> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const body = { ...problem.body, ...extra, requestId: requestIdOf(response) };
  respondWithJson(response, problem.status, body, problem.headers);
}

/** Answers with the error; not when the sender has gone. */
export function respondToFailure(response: ServerResponse, error: unknown, log: Logger): void {
  if (!(error instanceof SenderGone)) respondWithProblem(response, toProblem(error, log, response));
}

/** Ends the response with `body` as JSON and its length; `headers` go out beside `Content-Type`. */
export function respondWithJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    ...commonHeaders(response),
    ...headers,
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

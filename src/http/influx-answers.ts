import type Koa from 'koa';
import type { Logger } from 'pino';
import { LINE_PATHS } from '../domain/access/line-paths.ts';
import { SenderGone } from './body.ts';
import { respondWithJson, toProblem } from './error-responder.ts';

/** Codes that InfluxDB's second API has for statuses. */
const CODES: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  413: 'request too large',
  429: 'too many requests',
  503: 'unavailable',
};

/** Reads tokens where senders of line protocol put them, and answers them as InfluxDB does when something fails. */
export function asInflux(log: Logger): Koa.Middleware {
  return async (context, next) => {
    const path = context.path.replace(/\/$/, '');
    if (!Object.hasOwn(LINE_PATHS, path)) return next();
    const { authorization } = context.req.headers;
    const token = tokenOf(authorization, context.query);
    if (token !== null) context.req.headers.authorization = `Token ${token}`;
    try {
      await next();
    } catch (error) {
      context.respond = false;
      if (error instanceof SenderGone || context.res.headersSent || context.res.destroyed) return;
      const { status, headers, body } = toProblem(error, log, context.res);
      respondAsInflux(context, { status, headers, message: String(body['detail']) });
    }
  };
}

/** Header of a sender (rtl_433) that was given no token for it. */
const NO_TOKEN = /^\s*token\s+\(null\)\s*$/i;

/** A token that the doorkeeper would not find: that of the parameter `p`, of `Token user:token`, or of `u`. */
function tokenOf(authorization: string | undefined, { p, u }: Koa.Context['query']): string | null {
  // Before the header, as in InfluxDB.
  if (isToken(p)) return p;
  if (authorization === undefined || NO_TOKEN.test(authorization)) return isToken(u) ? u : null;
  return /^\s*token\s+[^:\s]*:([^:\s]+)\s*$/i.exec(authorization)?.[1] ?? null;
}

function isToken(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text);
}

/** Answers an error as the API of the path does. */
export function respondAsInflux(
  { path, res }: Koa.Context,
  {
    status,
    headers = {},
    message,
    line,
  }: { status: number; headers?: Record<string, string>; message: string; line?: number },
): void {
  const isSecond = path.startsWith('/api/v2/');
  const body = isSecond
    ? { code: CODES[status] ?? 'internal error', message, ...(line && { line }) }
    : { error: message };
  const inHeader = message.replace(/[^\x20-\x7e]/g, '?').slice(0, 500);
  respondWithJson(res, status, body, {
    ...headers,
    'Content-Type': 'application/json',
    ...(isSecond ? { 'X-Platform-Error-Code': CODES[status] ?? 'internal error' } : { 'X-Influxdb-Error': inHeader }),
  });
}

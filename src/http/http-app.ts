import Koa from 'koa';
import type { RequestListener, IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import { commonHeaders, respondToFailure } from './error-responder.ts';
import { ingestRoutes, type IngestRoutesDeps } from './ingest-routes.ts';
import { asInflux } from './influx-answers.ts';
import { requestIdOf } from './request-id.ts';
import type { RequestTurns } from './request-turns.ts';
import { requireHost } from './require.ts';
import { createRouter, type Handlers, type PathDoorkeepers } from './routes.ts';

interface HttpAppDeps extends IngestRoutesDeps, PathDoorkeepers {
  turns: RequestTurns;
  handlers: Handlers;
}

/** Maximum characters per header; browsers send 150, and libraries take milliseconds for long ones. */
const MAX_CHARACTERS = 500;

/** Every route: those that take the load, then the Koa app, with one place where errors become problems. */
export function createHttpApp(deps: HttpAppDeps): RequestListener {
  const { log } = deps;
  const router = createRouter(deps.handlers, deps);
  const app = new Koa();
  app.use(async (context, next) => {
    try {
      requireHost(context.req);
      boundNegotiation(context.req);
      await next();
      if (context.respond !== false && context.status === 404 && context.body === undefined)
        throw new AppError('NOT_FOUND', `There is nothing at ${context.method} ${context.path.slice(0, 200)}.`);
    } catch (error) {
      context.respond = false;
      respondToFailure(context.res, error, log);
    }
  });
  app.use((context, next) => {
    // Most answers hold secrets or a tenant's data, those to GET too; one that may be kept says so itself.
    context.set({ ...commonHeaders(context.res), 'Cache-Control': 'no-store' });
    return next();
  });
  app.use(refuseUnreadableUrl);
  app.use(asInflux(log));
  app.use(router.routes());
  app.on('error', (error: unknown, context?: Koa.Context) => {
    // The client went away or sent what is no HTTP: nothing is wrong here.
    if (isAboutConnection(error)) log.debug({ code: (error as { code: string }).code }, 'connection lost');
    else log.error({ err: error, requestId: context && requestIdOf(context.res) }, 'error while answering');
  });
  const koa = app.callback();
  const serve = ingestRoutes(deps, (request, response) => void koa(request, response));
  return deps.turns.listener(serve);
}

/** Refuses a URL such as `http://[::1`: Koa would throw when it is asked for the path. */
const refuseUnreadableUrl: Koa.Middleware = (context, next) => {
  try {
    void context.path;
  } catch {
    throw new AppError('BAD_USER_INPUT', 'The URL of the request cannot be read.');
  }
  return next();
};

const CONNECTION = /^(?:ECONN|EPIPE$|ETIMEDOUT$|HPE_|ERR_STREAM_|ERR_HTTP_REQUEST_TIMEOUT$)/;

function isAboutConnection(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && CONNECTION.test(code);
}

/** Drops preferences that are too long: they count as not given (RFC 9110, 12.5.1 and 12.5.3). */
function boundNegotiation({ headers }: IncomingMessage): void {
  if (isLong(headers.accept)) headers.accept = '*/*';
  if (isLong(headers['accept-encoding'])) headers['accept-encoding'] = 'identity';
}

function isLong(header: string | undefined): boolean {
  return header !== undefined && header.length > MAX_CHARACTERS;
}

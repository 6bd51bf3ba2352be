import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import { AppError } from '../errors.ts';
import { boundNegotiation } from './bound-negotiation.ts';
import { commonHeaders, respondToFailure } from './error-responder.ts';
import { ingestRoutes, type IngestRoutesDeps } from './ingest-routes.ts';
import { OPENAPI } from './openapi.ts';
import { requestIdOf } from './request-id.ts';
import type { RequestTurns } from './request-turns.ts';
import { requireHost } from './require-host.ts';
import { requireMethod } from './require-method.ts';

/** What answers a route: it fills `context`, or throws an AppError for the error responder. */
export type Handler = (context: Koa.Context) => Promise<void> | void;

/** The routes of CONTRACT 8. */
export type FileRoute = 'historyCsv' | 'historyNdjson' | 'exportCsv' | 'exportNdjson' | 'deviceImport' | 'import';

interface HttpAppDeps extends IngestRoutesDeps {
  turns: RequestTurns;
  /** Process alive / ready to serve (CONTRACT 2). */
  health: Handler;
  ready: Handler;
  metrics: Handler;
  /** Reads the body of what follows as JSON. */
  jsonBody: Koa.Middleware;
  graphql: Handler;
  /** `/integrations/lorawan/<network>/` and `/integrations/particle/` */
  integration: Handler;
  /** Measurements out and in as files (CONTRACT 8). */
  files: Record<FileRoute, Handler>;
  /** The console (CONTRACT 9): its session, its files, and the way to it. */
  console: { session: Handler; files: Handler; lead: Handler };
}

/** Every route: those that take the load, then the Koa app, with one place where what goes wrong becomes a problem. */
export function createHttpApp(deps: HttpAppDeps): RequestListener {
  const { log } = deps;
  const router = new Router();
  router.all('/graphql', deps.jsonBody, deps.graphql);
  router.all('/integrations/lorawan/:network{/*rest}', deps.integration);
  router.all('/integrations/particle{/*rest}', deps.integration);
  router.all('/v1/devices/:device/history.csv', only(['GET'], deps.files.historyCsv));
  router.all('/v1/devices/:device/history.ndjson', only(['GET'], deps.files.historyNdjson));
  router.all('/v1/export.csv', only(['GET'], deps.files.exportCsv));
  router.all('/v1/export.ndjson', only(['GET'], deps.files.exportNdjson));
  router.all('/v1/devices/:device/import', only(['POST'], deps.files.deviceImport));
  router.all('/v1/import', only(['POST'], deps.files.import));
  router.all(
    '/v1/openapi.json',
    only(['GET', 'HEAD'], (context) => {
      context.body = OPENAPI;
    }),
  );
  router.all('/healthz', only(['GET', 'HEAD'], deps.health));
  router.all('/readyz', only(['GET', 'HEAD'], deps.ready));
  router.all('/metrics', only(['GET'], deps.metrics));

  router.all('/console/session', deps.console.session);
  router.all('/console{/*rest}', only(['GET', 'HEAD'], deps.console.files));
  router.all('/', only(['GET', 'HEAD'], deps.console.lead));

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
    // Secrets and what a tenant may see are in most answers, those to GET too; what may be kept says so itself.
    context.set({ ...commonHeaders(context.res), 'Cache-Control': 'no-store' });
    return next();
  });
  app.use(refuseTunnel);
  app.use(refuseUnreadableUrl);
  app.use(router.routes());
  app.on('error', (error: unknown, context?: Koa.Context) => {
    // The client went away or sent what is no HTTP: nothing is wrong here.
    if (isAboutConnection(error)) log.debug({ code: (error as { code: string }).code }, 'connection lost');
    else log.error({ err: error, requestId: context && requestIdOf(context.res) }, 'error while answering');
  });
  const koa = app.callback();
  return deps.turns.listener(ingestRoutes(deps, (request, response) => void koa(request, response)));
}

/** What stands in the line of a CONNECT is no path. */
const refuseTunnel: Koa.Middleware = ({ method }, next) => {
  if (method === 'CONNECT') throw new AppError('METHOD_NOT_ALLOWED', 'This server is no proxy: CONNECT leads nowhere.');
  return next();
};

/** `GET http://[::1` is no URL: Koa finds that out when somebody asks for the path. */
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

/** 405 with `Allow` for every other method. */
export function only(methods: string[], handler: Handler): Handler {
  return (context) => {
    requireMethod(context.method, methods);
    return handler(context);
  };
}

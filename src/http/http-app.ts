import Router from '@koa/router';
import Koa from 'koa';
import type { Logger } from 'pino';
import { WEBHOOK_ROOT } from '../domain/decoders/decoder-request.ts';
import { AppError } from '../errors.ts';
import { SenderGone } from './body.ts';
import { respondWithProblem, toProblem } from './error-responder.ts';
import type { RecordRoute } from './record-route.ts';

export type Handler = (context: Koa.Context) => Promise<void> | void;

export interface HttpAppParts {
  record: RecordRoute;
  /** Process alive / ready to serve (CONTRACT 2). */
  health: Handler;
  ready: Handler;
  graphql: Handler;
  /** `/integrations/api/<webhook id>/…` */
  webhook: Handler;
  /** `/integrations/lorawan/<network>/` and `/integrations/particle/` */
  integration: Handler;
  log: Logger;
}

/** The Koa app: every route, and one place where what goes wrong becomes a problem. */
export function createHttpApp(parts: HttpAppParts): Koa {
  const { record, log } = parts;
  const router = new Router();
  router.all(
    '/v1/devices/:device/record',
    only(['POST'], (context) => {
      context.respond = false;
      return record.handle(context.req, context.res, String(context['params'].device));
    }),
  );
  router.all('/graphql', parts.graphql);
  router.all('/integrations/lorawan/:network', parts.integration);
  router.all('/integrations/particle', parts.integration);
  router.all('/healthz', only(['GET', 'HEAD'], parts.health));
  router.all('/readyz', only(['GET', 'HEAD'], parts.ready));

  const app = new Koa();
  app.use(async (context, next) => {
    try {
      await next();
      if (context.respond !== false && context.status === 404 && context.body === undefined)
        throw new AppError('NOT_FOUND', `There is nothing at ${context.method} ${context.path.slice(0, 200)}.`);
    } catch (error) {
      if (error instanceof SenderGone) return;
      context.respond = false;
      respondWithProblem(context.res, toProblem(error, log));
    }
  });
  // Whatever a proxy puts before it, and whatever the sender puts behind it: the id in the path is what counts.
  app.use((context, next) => (context.path.includes(WEBHOOK_ROOT) ? parts.webhook(context) : next()));
  app.use(router.routes());
  app.on('error', (error: unknown) => log.error({ err: error }, 'error while answering'));
  return app;
}

/** 405 with `Allow` for every other method. */
export function only(methods: string[], handler: Handler): Handler {
  return (context) => {
    if (methods.includes(context.method)) return handler(context);
    throw new AppError('METHOD_NOT_ALLOWED', `${context.method} is not possible here; use ${methods.join(' or ')}.`, {
      details: { allow: methods.join(', ') },
    });
  };
}

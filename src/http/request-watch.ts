import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';

const GIVEN_ID = /^[\w.:-]{1,128}$/;
/** What stands in a path is told by its route only: ids are many, and a webhook's is a secret. */
const ROUTES: [name: string, path: RegExp][] = [
  ['record', /^\/v1\/devices\/[^/]+\/record\/?$/],
  ['webhook', /\/integrations\/api\//],
  ['integration', /^\/integrations\//],
  ['graphql', /^\/graphql\/?$/],
  ['import', /^\/v1\/(?:.*\/)?import\/?$/],
  ['export', /^\/v1\/(?:export|.*\/history)\.\w+\/?$/],
  ['health', /^\/(?:healthz|readyz)\/?$/],
  ['metrics', /^\/metrics\/?$/],
  ['console', /^\/(?:console(?:\/|$)|$)/],
];

interface RequestWatchDeps {
  /** Called at the end of each answer: its route, status (499: the sender went away) and seconds. */
  answered: (route: string, status: number, seconds: number) => void;
  log: Logger;
}

/**
 * Gives each request an id (the sender's `X-Request-Id`, else a new one), sends it back in the same header, and tells at
 * `LOG_LEVEL=debug` how the request ended, without secrets: the route, never the path.
 */
export function watchRequest({
  answered,
  log,
}: RequestWatchDeps): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const from = performance.now();
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId);
    response.once('close', () => {
      const route = routeOf(request.url ?? '');
      const status = response.writableFinished ? response.statusCode : 499;
      const ms = performance.now() - from;
      answered(route, status, ms / 1000);
      if (log.isLevelEnabled('debug'))
        log.debug({ requestId, method: request.method, route, status, ms: Math.round(ms * 10) / 10 }, 'request');
    });
  };
}

/** The id that the sender gave the request, if it is fit to be logged, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && GIVEN_ID.test(given) ? given : randomUUID();
}

function routeOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  for (const [name, pattern] of ROUTES) if (pattern.test(path)) return name;
  return 'other';
}

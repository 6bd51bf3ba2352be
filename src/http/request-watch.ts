import type { Logger } from 'pino';
import type { Exchange } from './connections.ts';
import { requestIdOf } from './request-id.ts';

/** Names of routes: paths hold many ids, and a webhook's is a secret. */
const ROUTES: [name: string, path: RegExp][] = [
  ['record', /^\/v1\/devices\/[^/]+\/record\/?$/],
  ['webhook', /\/integrations\/api\//],
  ['integration', /^\/integrations\//],
  ['lines', /^(?:\/api\/v2)?\/write\/?$/],
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

/** Tells how each request ended, at `LOG_LEVEL=debug` in the log too, without secrets: the route, never the path. */
export function watchRequests({ answered, log }: RequestWatchDeps): (exchange: Exchange, seconds: number) => void {
  return ({ request, response }, seconds) => {
    const route = routeOf(request.url ?? '');
    const status = response.writableFinished ? response.statusCode : 499;
    answered(route, status, seconds);
    if (!log.isLevelEnabled('debug')) return;
    const ms = Math.round(seconds * 10_000) / 10;
    log.debug({ requestId: requestIdOf(response), method: request.method, route, status, ms }, 'request');
  };
}

function routeOf(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  for (const [name, pattern] of ROUTES) if (pattern.test(path)) return name;
  return 'other';
}

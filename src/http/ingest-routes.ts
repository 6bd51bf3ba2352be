import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { WEBHOOK_ROOT } from '../domain/decoders/decoder-request.ts';
import type { RecordRoute } from './record-route.ts';

/** A route on the bare request: what goes wrong is thrown, and answered by the app. */
export type BareHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The handlers of the two routes that take the load; both answer on the bare response. */
export interface IngestRoutesDeps {
  record: RecordRoute;
  webhook: BareHandler;
}

const RECORD = /^\/v1\/devices\/([^/?]+)\/record\/?(?:\?|$)/;

/**
 * The two routes that take the load, before the router: they are found by what stands in the URL as it was sent (device
 * names with broken percent-encoding, whatever a proxy puts before a webhook), and answer by themselves.
 */
export function ingestRoutes({ record, webhook }: IngestRoutesDeps): Middleware {
  return (context, next) => {
    const { req: request, res: response } = context;
    const url = originForm(request.url ?? '');
    request.url = url;
    const device = RECORD.exec(url)?.[1];
    if (device === undefined && !isWebhook(url)) return next();
    context.respond = false;
    return device === undefined ? webhook(request, response) : record.handle(request, response, device);
  };
}

/**
 * The path and query of a request's target. Proxies may send the whole URL (RFC 9112, 3.2.2): what stands before the
 * path is not looked at, so it may be anything.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Whatever a proxy puts before it, and whatever the sender puts behind it: the id in the path is what counts. */
function isWebhook(url: string): boolean {
  const at = url.indexOf(WEBHOOK_ROOT);
  if (at < 0) return false;
  const query = url.indexOf('?');
  return query < 0 || at < query;
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { forbidden } from '../errors.ts';
import { commonHeaders, respondToFailure } from './error-responder.ts';
import { webhookIdOf } from './ingest-routes.ts';
import { isFromOwnPage } from './own-page.ts';

/** `ALLOWED_ORIGINS`: exact ones, or `*` for any. */
type AllowedOrigins = ReadonlySet<string>;

/** GraphQL and every REST document; webhooks and networks are for devices. */
const FOR_PAGES = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?#]*)?\/(?:graphql\/?(?:[?#]|$)|v1\/)/i;
const EXPOSED = 'Retry-After, Inlet-Stored, Inlet-Rejected, X-Request-Id';
/** Seconds, the most that a browser keeps. */
const PREFLIGHT_KEPT = '7200';

/**
 * Lets pages of other origins ask (CONTRACT 10): answers their preflight, and names them in the headers of every other
 * answer. Never with credentials: the console's cookie counts on the server's own pages alone (`own-page.ts`).
 */
export function crossOrigin(allowed: AllowedOrigins, serve: RequestListener, log: Logger): RequestListener {
  return (request, response) => {
    const { method, url = '', headers } = request;
    const { origin } = headers;
    // Devices name no origin: their requests are only looked at where answers must vary by it.
    if (origin === undefined && allowed.size === 0) return serve(request, response);
    if (!FOR_PAGES.test(url) || webhookIdOf(url) !== null) return serve(request, response);
    if (allowed.size > 0) response.setHeader('Vary', 'Origin');
    if (origin === undefined) return serve(request, response);
    const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
    if (!isAllowed(origin, allowed)) {
      if (isPreflight) return respondToFailure(response, forbidden(refusalOf(origin)), log);
      return serve(request, response);
    }
    response.setHeader('Access-Control-Allow-Origin', allowed.has('*') ? '*' : origin);
    if (isPreflight) return answerPreflight(response);
    response.setHeader('Access-Control-Expose-Headers', EXPOSED);
    serve(request, response);
  };
}

/** The reason to refuse a WebSocket's page; null: it is allowed, one of this server, or no page. */
export function refusedPage(request: IncomingMessage, allowed: AllowedOrigins, baseUrl: string): string | null {
  const { origin } = request.headers;
  if (origin === undefined || isAllowed(origin, allowed) || isFromOwnPage(request, baseUrl)) return null;
  return refusalOf(origin);
}

function isAllowed(origin: string, allowed: AllowedOrigins): boolean {
  return allowed.has('*') || allowed.has(origin);
}

function refusalOf(origin: string): string {
  const shown = origin.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, '?');
  return `ALLOWED_ORIGINS does not name ${shown}, so its pages may not ask.`;
}

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    ...commonHeaders(response),
    'Access-Control-Allow-Methods': 'GET, HEAD, POST',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    'Access-Control-Max-Age': PREFLIGHT_KEPT,
  });
  response.end();
}

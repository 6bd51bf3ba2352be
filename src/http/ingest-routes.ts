import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { WEBHOOK_ROOT } from '../domain/decoders/decoder-request.ts';
import { respondToFailure } from './error-responder.ts';
import type { RecordRoute } from './record-route.ts';
import { requireHost } from './require.ts';
import type { BarePath } from './routes.ts';
import { must } from '../must.ts';

/** A route on the bare request: errors are thrown. */
export type BareHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A route in front of the app: `find` tells what the URL names (null: another route's); `answer` never throws. */
interface BareRoute {
  find: (url: string) => string | null;
  answer: (request: IncomingMessage, response: ServerResponse, named: string) => Promise<void>;
}

/** The handlers of the two routes that take the load; both answer on the bare response. */
export interface IngestRoutesDeps {
  record: RecordRoute;
  webhook: BareHandler;
  log: Logger;
}

const RECORD = /^\/v1\/devices\/([^/?]+)\/record\/?(?:\?|$)/;

/**
 * The two routes that take the load, in front of the app, whose context and listeners cost too much per request. They
 * are found in the URL as it was sent (device names with broken percent-encoding, prefixes that a proxy puts before a
 * webhook). `others` answers everything else.
 */
export function ingestRoutes({ record, webhook, log }: IngestRoutesDeps, others: RequestListener): RequestListener {
  const answerWebhook = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      requireHost(request);
      await webhook(request, response);
    } catch (error) {
      respondToFailure(response, error, log);
    }
  };
  const byPath: Record<BarePath, BareRoute> = {
    '/v1/devices/:device/record': {
      find: (url) => RECORD.exec(url)?.[1] ?? null,
      answer: (request, response, device) => record.handle(request, response, device),
    },
    '/integrations/api/:webhook': { find: webhookIdOf, answer: answerWebhook },
  };
  const routes = Object.values(byPath);
  return (request, response) => {
    const url = originForm(request.url ?? '');
    request.url = url;
    for (const { find, answer } of routes) {
      const named = find(url);
      if (named !== null) return void answer(request, response, named);
    }
    others(request, response);
  };
}

/** Path and query of a request's target. Proxies may send the whole URL (RFC 9112, 3.2.2), with any beginning. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** The webhook id in the path, whatever a proxy puts before it and the sender behind it; null: none. */
export function webhookIdOf(url: string): string | null {
  const at = url.indexOf(WEBHOOK_ROOT);
  const query = url.indexOf('?');
  if (at < 0 || (query >= 0 && query < at)) return null;
  return must(/^[^/?]*/.exec(url.slice(at + WEBHOOK_ROOT.length)))[0];
}

import { createServer, type Server } from 'node:http';
import type { TokenHandler } from './routes.ts';

/** The registry that Prometheus reads. */
interface MetricsText {
  contentType: string;
  metrics(): Promise<string>;
}

/**
 * `GET /metrics` for tokens with scope ADMIN in some workspace, not limited to a part of it: numbers of this node, none of
 * a tenant's content.
 */
export function metricsRoute(registry: MetricsText): TokenHandler {
  return async (context, access) => {
    access.workspaceIdsWith('ADMIN');
    access.requireUnlimited();
    context.set('Content-Type', registry.contentType);
    context.body = await registry.metrics();
  };
}

/** The same without a token on a port of its own, for a network that only Prometheus reaches (METRICS_PORT). */
export function metricsServer(registry: MetricsText): Server {
  return createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

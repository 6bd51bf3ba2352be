import type { IncomingMessage, Server } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './domain/ports/database.ts';
import type { LookAtInstallation } from './domain/ports/installation.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { MapTiles } from './domain/ports/map-tiles.ts';
import type { Domain } from './build-domain.ts';
import { InvalidInputThrottle } from './scheduling/invalid-input-throttle.ts';
import { createGraphqlTransport, type GraphqlTransport } from './graphql/transport/graphql-transport.ts';
import type { WatchExecution } from './graphql/operation/compiled-operation.ts';
import { LiveCalls } from './graphql/live/live-calls.ts';
import { LiveAlerts } from './graphql/live/live-alerts.ts';
import { LiveDeliveries } from './graphql/live/live-deliveries.ts';
import { LiveStatus } from './graphql/live/live-status.ts';
import { LiveMeasurements } from './graphql/live/live-measurements.ts';
import { AnonymousRequests } from './http/anonymous-requests.ts';
import { isEmptyAuthorization, secretOf } from './http/authenticate.ts';
import { BodyMemory } from './http/body-memory.ts';
import { refusedPage } from './http/cross-origin.ts';
import { healthRoute } from './http/health-route.ts';
import type { BareHandler } from './http/ingest-routes.ts';
import { jsonBody } from './http/json-body.ts';
import { ConsoleFiles, leadToConsole } from './http/console-files.ts';
import { sessionSecretOf } from './http/session-cookie.ts';
import { sessionRoute } from './http/session-route.ts';
import { tileRoute } from './http/tile-route.ts';
import { deviceFileRoute } from './http/device-file-route.ts';
import { exportRoute, historyFileRoute } from './http/export-route.ts';
import { deviceImportRoute, importRoute } from './http/import-route.ts';
import { networkRoute } from './http/network-route.ts';
import { OPENAPI } from './http/openapi.ts';
import { requestCaller } from './http/request-caller.ts';
import { RequestTurns } from './http/request-turns.ts';
import { lineQueryRoute, lineRoute, pingRoute, healthOfInflux } from './http/line-route.ts';
import { makeRequestId } from './http/request-id.ts';
import type { Handlers, PathDoorkeepers } from './http/routes.ts';
import { RecordRoute } from './http/record-route.ts';
import { webhookRoute } from './http/webhook-route.ts';
import { Topics } from './mqtt/topics.ts';

interface TransportsDeps {
  config: Config;
  domain: Domain;
  database: Database;
  cluster: Cluster;
  /** null: there is no tile server. */
  mapTiles: MapTiles | null;
  baseUrl: () => string;
  installation: LookAtInstallation;
  now: () => number;
  watchExecution?: WatchExecution | undefined;
  log: Logger;
}

/** The transports and their load. */
export interface Transports extends PathDoorkeepers {
  /** Its `release` is called when a request is done. */
  bodies: BodyMemory;
  record: RecordRoute;
  turns: RequestTurns;
  webhook: BareHandler;
  topics: Topics;
  /** Handlers of the routes, except those that need more than the transports. */
  handlers: Omit<Handlers, '/readyz' | '/metrics'>;
  attachWebSocket: (server: Server) => void;
  load: GraphqlTransport['load'];
  warmUp: GraphqlTransport['warmUp'];
  endSockets: () => Promise<void>;
  stop: () => Promise<void>;
}

/** Builds the two transports, REST and GraphQL, over one domain. */
export async function createTransports(deps: TransportsDeps): Promise<Transports> {
  const { config, domain, database, cluster, mapTiles, baseUrl, installation, now, watchExecution, log } = deps;
  const { authenticator, ingestCache, feed, recorder, deviceFinder, exporter, importer } = domain;
  const { perMinute, trustedProxies } = config.anonymous;
  const anonymous = new AnonymousRequests({ perMinute, trustedProxies, now });
  const bodies = new BodyMemory((request) => anonymous.addressOf(request));
  const bounds = {
    maxBytes: config.maxBodyBytes,
    idleMs: config.clientIdleMs,
    memory: bodies,
  };
  const refused = new InvalidInputThrottle(domain.senders);
  const ofSession = (request: IncomingMessage): string | null => sessionSecretOf(request, baseUrl());
  const ofPages = { authenticator, anonymous, sessionSecretOf: ofSession };
  const turns = new RequestTurns(requestCaller(ofPages, ingestCache));
  const out = { devices: deviceFinder, exporter, log };
  const into = { devices: deviceFinder, importer, idleMs: config.clientIdleMs };
  const { deviceCache: devices } = domain;
  const live = {
    measurements: new LiveMeasurements({ feed, ingestCache, devices, shares: domain.shares }),
    calls: new LiveCalls(ingestCache, domain.calls),
    alerts: new LiveAlerts(domain.alertFeed, ingestCache, devices, domain.shares),
    deliveries: new LiveDeliveries(domain.deliveries),
    status: new LiveStatus(domain.statusWatch, ingestCache, devices, domain.shares),
  };
  const graphql = await createGraphqlTransport({
    resolvers: { ...domain, database, baseUrl, installation, now },
    sources: { database, store: domain.store, history: domain.history },
    live,
    authenticator,
    anonymous,
    cluster,
    secretOf,
    isEmptyAuthorization,
    sessionSecretOf: ofSession,
    refusedPage: (request) => refusedPage(request, config.allowedOrigins, baseUrl()),
    requestIdOf: makeRequestId,
    maxMessageBytes: config.maxBodyBytes,
    watchExecution,
    bodies,
    shares: domain.shares,
    now,
    log,
  });
  const network = networkRoute({ authenticator, anonymous, receiver: domain.networkReceiver, bounds, refused });
  const lines = lineRoute({ receiver: domain.lineReceiver, bounds, refused, turns, now });
  const readJson = jsonBody(bounds, ofPages);
  return {
    doorkeepers: { authenticator, anonymous },
    pageDoorkeepers: ofPages,
    bodies,
    record: new RecordRoute({
      authenticator,
      anonymous,
      devices: deviceFinder,
      recorder,
      bounds,
      refused,
      turns,
      now,
      log,
    }),
    turns,
    webhook: webhookRoute({ receiver: domain.webhookReceiver, anonymous, bounds, refused }),
    topics: new Topics({
      authenticator,
      devices: deviceFinder,
      recorder,
      receiver: domain.webhookReceiver,
      deviceClients: domain.deviceClients,
      refused,
      turns,
      shapes: config.mqtt.shapes,
      maxBytes: config.maxBodyBytes,
      log,
    }),
    handlers: {
      '/v1/devices/:device/history.csv': historyFileRoute(out, 'csv'),
      '/v1/devices/:device/history.ndjson': historyFileRoute(out, 'ndjson'),
      '/v1/export.csv': exportRoute(out, 'csv'),
      '/v1/export.ndjson': exportRoute(out, 'ndjson'),
      '/v1/devices/:device/import': deviceImportRoute(into),
      '/v1/import': importRoute(into),
      '/v1/devices.csv': deviceFileRoute({ ...domain, idleMs: config.clientIdleMs }),
      '/integrations/lorawan/:network': network,
      '/integrations/particle': network,
      '/write': lines,
      '/api/v2/write': lines,
      '/query': lineQueryRoute(bounds),
      '/ping': pingRoute,
      '/health': healthOfInflux,
      '/graphql': (context) => readJson(context, () => graphql.handle(context)),
      '/console/session': sessionRoute({
        authenticator,
        anonymous,
        signIn: (email, password, caller) => domain.users.signIn(email, password, caller),
        signOut: (access) => domain.tokens.signOut(access),
        baseUrl,
        bounds,
      }),
      '/console/tiles': tileRoute(mapTiles),
      '/console': new ConsoleFiles(config.allowedOrigins).serve,
      '/': leadToConsole,
      '/v1/openapi.json': (context) => {
        context.body = OPENAPI;
      },
      '/healthz': healthRoute,
    },
    attachWebSocket: (server) => graphql.attachWebSocket(server),
    load: () => graphql.load(),
    warmUp: () => graphql.warmUp(),
    endSockets: () => graphql.endSockets(),
    stop: () => graphql.stop(),
  };
}

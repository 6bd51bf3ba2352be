import type { Server } from 'node:http';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { Database } from './domain/database.ts';
import type { Cluster } from './domain/cluster.ts';
import type { MeasurementStore } from './domain/measurements/store.ts';
import type { Domain } from './build-domain.ts';
import { DeviceCache } from './graphql/device-cache.ts';
import { createGraphqlTransport } from './graphql/graphql-transport.ts';
import { LiveCalls } from './graphql/live-calls.ts';
import { LiveMeasurements } from './graphql/live-measurements.ts';
import { DecoderResolver } from './graphql/resolvers/decoder-resolver.ts';
import { DeviceResolver } from './graphql/resolvers/device-resolver.ts';
import { FieldResolver } from './graphql/resolvers/field-resolver.ts';
import { LiveResolver } from './graphql/resolvers/live-resolver.ts';
import { MeasurementsResolver } from './graphql/resolvers/measurements-resolver.ts';
import { DecoderVersionResolver } from './graphql/resolvers/objects/decoder-version-resolver.ts';
import { DeviceObjectResolver } from './graphql/resolvers/objects/device-object-resolver.ts';
import { DeviceValuesResolver } from './graphql/resolvers/objects/device-values-resolver.ts';
import { EntryOutcomeResolver } from './graphql/resolvers/objects/entry-outcome-resolver.ts';
import { FieldObjectResolver } from './graphql/resolvers/objects/field-object-resolver.ts';
import { ProductCallsResolver } from './graphql/resolvers/objects/product-calls-resolver.ts';
import { ProductDecoderResolver } from './graphql/resolvers/objects/product-decoder-resolver.ts';
import { ProductObjectResolver } from './graphql/resolvers/objects/product-object-resolver.ts';
import { TokenObjectResolver } from './graphql/resolvers/objects/token-object-resolver.ts';
import { WorkspaceObjectResolver } from './graphql/resolvers/objects/workspace-object-resolver.ts';
import { PlanResolver } from './graphql/resolvers/plan-resolver.ts';
import { ProductResolver } from './graphql/resolvers/product-resolver.ts';
import { ReplayResolver } from './graphql/resolvers/replay-resolver.ts';
import { TokenResolver } from './graphql/resolvers/token-resolver.ts';
import { UserResolver } from './graphql/resolvers/user-resolver.ts';
import { ViewerResolver } from './graphql/resolvers/viewer-resolver.ts';
import { WorkspaceResolver } from './graphql/resolvers/workspace-resolver.ts';
import { secretOf } from './http/authenticate.ts';
import { bodyText, readBody } from './http/body.ts';
import { healthRoute } from './http/health-route.ts';
import type { BareHandler } from './http/ingest-routes.ts';
import type { Handler } from './http/http-app.ts';
import { networkRoute } from './http/network-route.ts';
import { RecordRoute } from './http/record-route.ts';
import { webhookRoute } from './http/webhook-route.ts';

interface TransportsDeps {
  config: Config;
  domain: Domain;
  database: Database;
  store: MeasurementStore;
  cluster: Cluster;
  baseUrl: () => string;
  now: () => number;
  log: Logger;
}

interface Transports {
  record: RecordRoute;
  health: Handler;
  graphql: Handler;
  webhook: BareHandler;
  integration: Handler;
  attachWebSocket: (server: Server) => void;
  endSockets: () => Promise<void>;
  stop: () => Promise<void>;
}

/** The two transports, REST and GraphQL, over one domain. */
export async function createTransports(deps: TransportsDeps): Promise<Transports> {
  const { config, domain, database, store, cluster, now, log } = deps;
  const { authenticator, ingestCache, feed, recorder, deviceFinder } = domain;
  const measurements = new LiveMeasurements({ feed, ingestCache, devices: new DeviceCache(database, cluster) });
  const live = { measurements, calls: new LiveCalls(ingestCache, domain.calls) };
  const graphql = await createGraphqlTransport({
    resolvers: createResolvers(deps),
    sources: { database, store },
    live,
    authenticator,
    cluster,
    readBody: async (request) => bodyText(await readBody(request, config.maxBodyBytes)),
    secretOf,
    maxMessageBytes: config.maxBodyBytes,
    now,
    log,
  });
  return {
    record: new RecordRoute({
      authenticator,
      devices: deviceFinder,
      recorder,
      maxBodyBytes: config.maxBodyBytes,
      now,
      log,
    }),
    health: healthRoute,
    graphql: (context) => graphql.handle(context),
    webhook: webhookRoute({ receiver: domain.webhookReceiver, maxBodyBytes: config.maxBodyBytes }),
    integration: networkRoute({
      authenticator,
      receiver: domain.networkReceiver,
      maxBodyBytes: config.maxBodyBytes,
    }),
    attachWebSocket: (server) => graphql.attachWebSocket(server),
    endSockets: () => graphql.endSockets(),
    stop: () => graphql.stop(),
  };
}

/** One instance of every class in `graphql/resolvers/list.ts`. */
function createResolvers({ domain, database, store, baseUrl, now }: TransportsDeps): object[] {
  const { ingestCache, recorder, history, calls } = domain;
  return [
    new ViewerResolver(database),
    new WorkspaceResolver(domain.workspaces),
    new WorkspaceObjectResolver(domain.workspaces, domain.tokens),
    new UserResolver(domain.users),
    new TokenResolver(domain.tokens),
    new TokenObjectResolver(domain.tokens),
    new PlanResolver(),
    new ProductResolver(domain.products),
    new ProductObjectResolver(domain.fields, domain.deviceList, baseUrl),
    new ProductCallsResolver(calls),
    new ProductDecoderResolver(domain.decoders, domain.examples, domain.replay),
    new DecoderResolver(domain.decoders, domain.examples),
    new DecoderVersionResolver(),
    new ReplayResolver(domain.replay),
    new FieldResolver(domain.fields),
    new FieldObjectResolver(),
    new DeviceResolver(domain.devices, domain.deviceList, domain.writeRates),
    new DeviceObjectResolver(now),
    new DeviceValuesResolver(ingestCache, history),
    new MeasurementsResolver({ ingestCache, recorder, store, now }),
    new EntryOutcomeResolver(),
    new LiveResolver(),
  ];
}

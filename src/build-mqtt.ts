import type { Logger } from 'pino';
import type { Domain } from './build-domain.ts';
import type { Transports } from './build-transports.ts';
import type { Closers } from './closers.ts';
import { type Config, StartError } from './config.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { Metrics } from './metrics/metrics.ts';

interface MqttDeps {
  config: Config;
  domain: Domain;
  transports: Transports;
  cluster: Cluster;
  metrics: Metrics;
  now: () => number;
  log: Logger;
}

/** Starts what speaks MQTT, where settings ask for it; it stops before the other doors. */
export async function startMqtt(deps: MqttDeps, closers: Closers): Promise<void> {
  // Modules are imported when needed: start-up is mostly loading them.
  await startSource(deps, closers);
  await startServer(deps, closers);
}

async function startSource(
  { config, domain, transports, metrics, now, log }: MqttDeps,
  closers: Closers,
): Promise<void> {
  const { source: settings } = config.mqtt;
  if (settings === null) return;
  const { BrokerSource } = await import('./mqtt/broker-source.ts');
  const source = new BrokerSource({
    settings,
    isShared: config.redisUrl !== null,
    maxMessageBytes: config.maxBodyBytes,
    authenticator: domain.authenticator,
    topics: transports.topics,
    onReceived: ({ code }) => metrics.mqttMessage('broker', code),
    now,
    log,
  });
  closers.add('MQTT source', () => source.stop());
}

async function startServer(
  { config, domain, transports, cluster, metrics, now, log }: MqttDeps,
  closers: Closers,
): Promise<void> {
  const { port, tls } = config.mqtt;
  if (port === null && tls === null) return;
  const { MqttServer } = await import('./mqtt/mqtt-server.ts');
  const server = new MqttServer({
    host: config.host,
    port,
    tls,
    connectionsPerAddress: config.connectionsPerAddress,
    maxMessageBytes: config.maxBodyBytes,
    authenticator: domain.authenticator,
    anonymous: transports.doorkeepers.anonymous,
    bodies: transports.bodies,
    topics: transports.topics,
    cluster,
    onConnection: () => transports.turns.noteConnection(),
    onReceived: ({ code }) => metrics.mqttMessage('client', code),
    now,
    log,
  });
  metrics.gauge('inlet_mqtt_connections', 'Open connections of MQTT clients.', () => server.connections);
  metrics.gauge('inlet_mqtt_messages_under_way', 'Messages of MQTT clients without an outcome.', () => server.underWay);
  closers.add('MQTT', () => server.stop());
  const ports = await server.start().catch((error: unknown) => {
    throw new StartError('HOST, MQTT_PORT, MQTT_TLS_PORT', 'cannot listen for MQTT', error);
  });
  log.info(ports, 'MQTT: listening');
}

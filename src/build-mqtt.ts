import type { Logger } from 'pino';
import type { Domain } from './build-domain.ts';
import type { Transports } from './build-transports.ts';
import type { Closers } from './closers.ts';
import type { Config } from './config.ts';
import type { Metrics } from './metrics/metrics.ts';

interface MqttDeps {
  config: Config;
  domain: Domain;
  transports: Transports;
  metrics: Metrics;
  now: () => number;
  log: Logger;
}

/** Starts what speaks MQTT, where settings ask for it; it stops before the other doors. */
export async function startMqtt(
  { config, domain, transports, metrics, now, log }: MqttDeps,
  closers: Closers,
): Promise<void> {
  const { source: settings } = config.mqtt;
  if (settings === null) return;
  // Imported when needed: start-up is mostly loading modules.
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

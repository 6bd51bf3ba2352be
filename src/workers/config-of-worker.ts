import type { Config } from '../config.ts';

/**
 * The settings of one of the machine's workers: what is a maximum of the machine is shared among them, and what there is
 * once is the first one's, or the supervisor's.
 */
export function configOfWorker(config: Config, number: number): Config {
  const { workers, connectionsPerAddress, anonymous, decoder, mqtt } = config;
  // 0 stays 0: no limit.
  const share = (most: number): number => Math.ceil(most / workers);
  return {
    ...config,
    metricsPort: null,
    connectionsPerAddress: share(connectionsPerAddress),
    anonymous: { ...anonymous, perMinute: share(anonymous.perMinute) },
    decoder: { ...decoder, processes: Math.max(1, Math.floor(decoder.processes / workers)) },
    // A broker knows it by its client id, of which there is one.
    mqtt: number === 1 ? mqtt : { ...mqtt, source: null },
  };
}

import { countsOf } from './scheduling/lane-counts.ts';
import { LANES } from './scheduling/lanes.ts';
import { poolCountsOf } from './scheduling/pool-counts.ts';
import { POOLS } from './scheduling/pools.ts';
import type { Domain } from './build-domain.ts';
import type { Transports } from './build-transports.ts';
import type { ReplicaFigures } from './measurement-store/postgres/replica.ts';
import type { Replicas } from './measurement-store/postgres/replicas.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { DecoderPool } from './sandbox/decoder-pool.ts';

interface Watched {
  store: { readonly waitingValues: number };
  pool: DecoderPool;
  transports: Transports;
  domain: Domain;
  cluster: Cluster;
  /** Whether new requests are accepted. */
  accepting: () => boolean;
}

/** Adds the gauges of load; they are read when Prometheus asks, and nothing is counted meanwhile. */
export function tellLoad(metrics: Metrics, { store, pool, transports, domain, cluster, accepting }: Watched): void {
  const load = (): ReturnType<Transports['load']> => transports.load();
  metrics.gauge('inlet_values_waiting', 'Values that wait for their commit.', () => store.waitingValues);
  metrics.gauge('inlet_decoder_calls_waiting', 'Calls that wait for a decoder process.', () => pool.waiting);
  metrics.gauge('inlet_websockets', 'Open WebSocket connections.', () => load().sockets);
  metrics.gauge('inlet_subscriptions', 'Subscriptions that run on them.', () => load().subscriptions);
  metrics.gauges('inlet_cache_entries', 'What is in memory, by kind.', 'cache', () => ({
    ...domain.ingestCache.sizes,
    tokens: domain.authenticator.size,
    documents: load().documents,
  }));
  metrics.gauges('inlet_process_memory_bytes', 'Resident memory, by process.', 'process', () => ({
    server: process.memoryUsage.rss(),
    ...Object.fromEntries(Object.entries(pool.memory()).map(([place, bytes]) => [`decoder ${place}`, bytes])),
  }));
  const { outboxDepth, alertFigures } = domain;
  metrics.gauge('inlet_alerts_firing', 'Alerts that fired and are not over, on all nodes.', () => alertFigures.firing);
  metrics.gauge(
    'inlet_rules_behind_seconds',
    'How long the value that was judged last had waited.',
    () => alertFigures.behindSeconds,
  );
  metrics.gauge(
    'inlet_deliveries_waiting',
    'Deliveries that wait for endpoints, on all nodes.',
    () => outboxDepth.waiting,
  );
  metrics.gauge('inlet_delivery_age_seconds', 'How long the oldest of them has waited.', () => outboxDepth.ageSeconds);
  metrics.gauge('inlet_redis_connected', '0: other nodes cannot be heard.', () => Number(cluster.connected));
  metrics.gauge('inlet_ready_to_accept', '0: this server is stopping.', () => Number(accepting()));
}

/** Adds what replicas of the database answer, and how far each is behind. */
export function tellReplicas(metrics: Metrics, replicas: Pick<Replicas, 'reads' | 'figures'>): void {
  metrics.counters(
    'inlet_history_reads_total',
    'Reads of history that a replica may answer, by who did: primary, replica.',
    'place',
    () => ({ ...replicas.reads }),
  );
  const read = (of: (figures: ReplicaFigures) => number | undefined) => (): Record<string, number> =>
    Object.fromEntries(
      replicas.figures.flatMap((figures): [string, number][] => {
        const value = of(figures);
        return value === undefined ? [] : [[figures.name, value]];
      }),
    );
  metrics.gauges(
    'inlet_replica_used',
    '0: it is away, or no replica of the database.',
    'replica',
    read(({ used }) => Number(used)),
  );
  metrics.gauges(
    'inlet_replica_lag_bytes',
    'Log of the database that a replica has not replayed yet.',
    'replica',
    read(({ lag }) => lag?.bytes),
  );
  metrics.gauges(
    'inlet_replica_lag_seconds',
    'Time since the last commit that a replica has replayed, while there are more.',
    'replica',
    read(({ lag }) => lag?.seconds),
  );
}

/** Reads a figure of each row of a table, by the row's name. */
function readerOf<Counts>(table: object, countsOfRow: (name: string) => Counts) {
  return (of: (counts: Counts) => number) => (): Record<string, number> =>
    Object.fromEntries(Object.keys(table).map((name) => [name, of(countsOfRow(name))]));
}

/** Adds what each lane of `LANES` counts: its depth, waits, refusals, and the time that is charged for its work. */
export function tellLanes(metrics: Metrics): void {
  const read = readerOf(LANES, countsOf);
  metrics.gauges(
    'inlet_lane_waiting',
    'What waits in a lane now.',
    'lane',
    read((counts) => counts.waiting),
  );
  metrics.counters(
    'inlet_lane_waits_total',
    'What had to wait in a lane.',
    'lane',
    read((counts) => counts.waits),
  );
  metrics.counters(
    'inlet_lane_wait_seconds_total',
    'How long all that had to wait waited together.',
    'lane',
    read((counts) => counts.waitedMs / 1_000),
  );
  metrics.counters(
    'inlet_lane_refused_total',
    'What a lane refused.',
    'lane',
    read((counts) => counts.refused),
  );
  metrics.counters(
    'inlet_lane_charged_seconds_total',
    'Time charged to callers for the work of a lane.',
    'lane',
    read((counts) => counts.chargedMs / 1_000),
  );
}

/** Adds what each pool of `POOLS` counts: the bytes that it holds, what it refused, and what had to give way. */
export function tellPools(metrics: Metrics): void {
  const read = readerOf(POOLS, poolCountsOf);
  metrics.gauges(
    'inlet_pool_held_bytes',
    'Memory of a pool that is held now.',
    'pool',
    read((counts) => counts.bytes),
  );
  metrics.counters(
    'inlet_pool_refused_total',
    'What a pool refused.',
    'pool',
    read((counts) => counts.refused),
  );
  metrics.counters(
    'inlet_pool_evicted_total',
    'What had to give way in a pool.',
    'pool',
    read((counts) => counts.evicted),
  );
}

import type { Domain } from './build-domain.ts';
import type { Config } from './config.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { LookAtInstallation } from './domain/ports/installation.ts';
import type { Replicas } from './measurement-store/postgres/replicas.ts';
import { programVersion } from './program-file.ts';
import type { DecoderPool } from './sandbox/decoder-pool.ts';
import { countsOf } from './scheduling/lane-counts.ts';
import { LANES } from './scheduling/lanes.ts';
import type { WorkerSeat } from './workers/worker-seat.ts';

interface Looked {
  config: Config;
  store: { readonly waitingValues: number; readonly replicas?: Replicas | null };
  pool: DecoderPool;
  domain: Domain;
  cluster: Cluster;
  /** Counts the nodes on the database; left out: there is one. */
  nodes: (() => Promise<number>) | undefined;
  seat: WorkerSeat | undefined;
}

/** What operators are told of the installation; nothing is counted while nobody asks. */
export function lookAtInstallation({ config, store, pool, domain, cluster, nodes, seat }: Looked): LookAtInstallation {
  return async () => ({
    version: programVersion(),
    database: config.database.kind,
    nodes: (await nodes?.()) ?? 1,
    workers: config.workers,
    workersUp: seat?.up ?? 1,
    redisConnected: config.redisUrl === null ? null : cluster.connected,
    replicas: (store.replicas?.figures ?? []).map(({ name, used, lag }) => ({
      name,
      used,
      lagBytes: lag?.bytes ?? null,
      lagSeconds: lag?.seconds ?? null,
    })),
    valuesWaiting: store.waitingValues,
    decoderCallsWaiting: pool.waiting,
    deliveriesWaiting: domain.outboxDepth.waiting,
    lanes: Object.keys(LANES).map((name) => {
      const { waiting, refused } = countsOf(name);
      return { name, waiting, refused };
    }),
  });
}

/** A replica of the database: whether it answers, and how far it is behind; null: unknown. */
interface InstalledReplica {
  name: string;
  used: boolean;
  lagBytes: number | null;
  lagSeconds: number | null;
}

/** How the installation is, as the node sees it that is asked; what waits is its own, deliveries those of all nodes. */
export interface Installation {
  version: string;
  database: string;
  nodes: number;
  workers: number;
  workersUp: number;
  /** null: there is no Redis. */
  redisConnected: boolean | null;
  replicas: InstalledReplica[];
  valuesWaiting: number;
  decoderCallsWaiting: number;
  deliveriesWaiting: number;
  lanes: { name: string; waiting: number; refused: number }[];
}

/** Looks how the installation is now. */
export type LookAtInstallation = () => Promise<Installation>;

/** What changed, as far as caches care. A user's change covers memberships; a product's its fields and decoder. */
export type Change =
  | { kind: 'token'; id: string }
  | { kind: 'user'; id: string }
  | { kind: 'workspace'; id: string }
  | { kind: 'product'; id: string }
  /** Devices of the product were added, changed or removed; without `workspaceId` they may be anybody's. */
  | { kind: 'devices'; productId: string; workspaceId?: string | undefined; ids: string[] }
  /** Something may have been missed: forget everything. */
  | { kind: 'everything' };

/** What equal nodes tell each other. In-process for one node, Redis for many. */
export interface Cluster {
  /** Resolves when every node has dropped what it cached of it: call after the commit, before the answer. */
  changed(changes: Change[]): Promise<void>;
  onChanged(listener: (changes: Change[]) => void): void;
  /** Live messages of other nodes may have been lost: whoever hands them on must not pretend to be complete. */
  onMissed(listener: () => void): void;
  /** False while other nodes cannot be heard or told: this one serves alone. */
  readonly connected: boolean;
  /** True when there may be other nodes: only then is publishing worth its price. */
  readonly shared: boolean;
  /** A live message to the other nodes (not to this one); never waits. */
  publish(channel: 'recorded' | 'called', message: string): void;
  onMessage(channel: 'recorded' | 'called', listener: (message: string) => void): void;
  stop(): Promise<void>;
}

/** How far the clocks of nodes may be apart. */
const CLOCKS_APART_MS = 2_000;

/** Now, in ms UTC, by the slowest clock of any node: nothing that happens from now on is stamped earlier. */
export function earliestNow({ cluster, now }: { cluster: Pick<Cluster, 'shared'>; now: () => number }): number {
  return now() - (cluster.shared ? CLOCKS_APART_MS : 0);
}

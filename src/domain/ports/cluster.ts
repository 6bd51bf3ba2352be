/** A change as caches see it. A user's change covers memberships; a product's its fields and decoder. */
export type Change =
  | { kind: 'token'; id: string }
  | { kind: 'user'; id: string }
  | { kind: 'workspace'; id: string }
  | { kind: 'product'; id: string }
  /** Devices of the product were added, changed or removed; without `workspaceId` in any workspace. */
  | { kind: 'devices'; productId: string; workspaceId?: string | undefined; ids: string[] }
  /** A device is about to move to another product: its values are found under other keys. */
  | { kind: 'moved'; id: string }
  /** Something may have been missed: forget everything. */
  | { kind: 'everything' };

/** Messages between equal nodes. In-process for one node, Redis for many. */
export interface Cluster {
  /** Resolves when every node has dropped its cached copies: call after the commit, before the answer. */
  changed(changes: Change[]): Promise<void>;
  onChanged(listener: (changes: Change[]) => void): void;
  /** Called when live messages of other nodes may have been lost: a listener must not pretend to be complete then. */
  onMissed(listener: () => void): void;
  /** False while other nodes cannot be heard or told: this one serves alone. */
  readonly connected: boolean;
  /** True when there may be other nodes; publishing is worth its price only then. */
  readonly shared: boolean;
  /** Sends a live message to the other nodes (not to this one); never waits. */
  publish(channel: 'recorded' | 'called' | 'delivered', message: string): void;
  onMessage(channel: 'recorded' | 'called' | 'delivered', listener: (message: string) => void): void;
  stop(): Promise<void>;
}

/** Maximum distance between the clocks of nodes. */
const CLOCKS_APART_MS = 2_000;

/** Now, in ms UTC, by the slowest clock of any node: nothing that happens from now on is stamped earlier. */
export function earliestNow({ cluster, now }: { cluster: Pick<Cluster, 'shared'>; now: () => number }): number {
  return now() - (cluster.shared ? CLOCKS_APART_MS : 0);
}

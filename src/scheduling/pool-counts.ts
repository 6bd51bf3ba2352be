/** Figures of a pool, as Prometheus reads them (`docs/operating.md`, memory). */
export class PoolCounts {
  /** Bytes held now. */
  bytes = 0;
  /** Number refused, as there was no room. */
  refused = 0;
  /** Number of those that had to give way to others. */
  evicted = 0;
}

const pools = new Map<string, PoolCounts>();

/** The counts of a pool of this process: all instances of it count together. */
export function poolCountsOf(pool: string): PoolCounts {
  let counts = pools.get(pool);
  if (counts === undefined) pools.set(pool, (counts = new PoolCounts()));
  return counts;
}

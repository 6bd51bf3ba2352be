import { countsByName } from './named-rows.ts';

/** Figures of a pool, as Prometheus reads them (`docs/operating.md`, memory). */
export class PoolCounts {
  /** Bytes held now. */
  bytes = 0;
  /** Number refused, as there was no room. */
  refused = 0;
  /** Number of those that had to give way to others. */
  evicted = 0;
}

/** The counts of a pool. */
export const poolCountsOf = countsByName(() => new PoolCounts());

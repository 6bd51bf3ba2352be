import { LANES } from './lanes.ts';
import { PenaltyBucket } from './penalty-bucket.ts';
import { ActiveTenants } from './active-tenants.ts';

/** Maximum body size that is never throttled: some values of one device. */
const FREE_BYTES = 1_024;
/** Cost of reading a refused body, and of writing why each entry was refused. */
const BYTES_PER_MS = 16_384;
const ENTRIES_PER_MS = 800;

/** A received body, with its tenant and its token or the product of its webhook. */
interface Body {
  tenant: string;
  source: string;
  bytes: number;
  /** Maximum entries that may be refused one by one. */
  maxEntries?: number;
  /** Whether the sender no longer waits for the answer. */
  isAbandoned?: () => boolean;
}

/** Refused share of a body: a part of its bytes from 0 to 1, and entries that were each explained. */
export interface Wasted {
  part: number;
  entries: number;
}

/**
 * Throttles tenants whose bodies are mostly refused: such a tenant waits while others send (CONTRACT 7, shares). Stored
 * values, and what usually comes with them (`unexplainedPart`), cost nothing. A sender that knows only a webhook's
 * address does not delay the other devices of its workspace (`PenaltyBucket`).
 */
export class InvalidInputThrottle {
  readonly #active: ActiveTenants;
  readonly #penalties: PenaltyBucket;

  constructor(active: ActiveTenants = new ActiveTenants()) {
    this.#active = active;
    this.#penalties = new PenaltyBucket(active, LANES.refusedInput);
  }

  /**
   * Runs `work` on a body when it may start and returns its result; charges the tenant for the refused part, or for all
   * of it if `work` fails. Throws what `work` throws, and OVERLOADED when too many such bodies of the tenant wait.
   */
  run<T>(
    { tenant, source, bytes, maxEntries = 0, isAbandoned }: Body,
    work: () => Promise<T>,
    wastedOf: (result: T) => Wasted,
  ): Promise<T> {
    if (bytes <= FREE_BYTES) return this.#active.during(tenant, work);
    const ms = costOf(bytes, { part: 1, entries: maxEntries });
    return this.#active.during(tenant, () =>
      this.#penalties.run({ tenant, source, ms, isAbandoned }, work, (result) => costOf(bytes, wastedOf(result))),
    );
  }
}

/** Cost in milliseconds. */
function costOf(bytes: number, { part, entries }: Wasted): number {
  return (bytes * part) / BYTES_PER_MS + entries / ENTRIES_PER_MS;
}

/** Part of a body beyond what its stored values explain: blanks, or keys that nobody reads. */
export function unexplainedPart(bytes: number, explainedBytes: number): number {
  return bytes > explainedBytes ? 1 - explainedBytes / bytes : 0;
}

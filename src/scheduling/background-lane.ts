import { withinOrLater } from './within-or-later.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';
import type { Caller } from './caller.ts';
import { ResourcePool } from './resource-pool.ts';

/** Time after which work stops blocking other tokens. */
const SLOW_AFTER_MS = 2_000;

interface BackgroundLaneOptions {
  /** Maximum running overall, slow ones not counted. */
  atOnce: number;
  /** Maximum running and waiting per token. */
  maxWaiting: number;
}

/**
 * Lane for heavy or background work in the database: one piece at a time per token and, unless it is slow, per tenant,
 * and few overall.
 */
export class BackgroundLane {
  readonly #perToken: KeyedSemaphore;
  readonly #perTenant = new KeyedSemaphore({ atOnce: 1, maxUnfinished: Infinity });
  readonly #overall: ResourcePool<null>;

  constructor({ atOnce, maxWaiting }: BackgroundLaneOptions) {
    this.#perToken = new KeyedSemaphore({ atOnce: 1, maxUnfinished: maxWaiting });
    this.#overall = new ResourcePool(atOnce, () => null);
  }

  /**
   * Runs `work` after `turn` when there is capacity, and returns its result. Throws OVERLOADED when too much of the
   * token waits.
   */
  run<T>({ tokenId, tenant }: Caller, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    return this.#perToken.use(tokenId, async () => {
      await turn();
      const started = this.#perTenant.use(tenant, () => this.#overall.use(() => withinOrLater(work(), SLOW_AFTER_MS)));
      return (await started).result;
    });
  }
}

import { withinOrLater } from './within-or-later.ts';
import { KeyedSemaphore } from './keyed-semaphore.ts';
import type { Caller } from './caller.ts';
import { ResourcePool } from './resource-pool.ts';

const LONG_MS = 2_000;

interface BackgroundLaneOptions {
  /** Of all callers, unless they take long. */
  atOnce: number;
  /** Of one token. */
  maxWaiting: number;
  /** One that takes longer goes on beside the next ones of others, so that none of them waits for it for long. */
  longMs?: number;
}

/**
 * What the database does in the background, or for those who ask for much: one piece at a time of each token and, unless
 * it takes long, of each tenant, and few of all together. Tokens of a tenant wait for each other, tenants for each other.
 */
export class BackgroundLane {
  readonly #ofTokens: KeyedSemaphore;
  readonly #ofTenants = new KeyedSemaphore({ atOnce: 1, most: Infinity });
  readonly #ofAll: ResourcePool<null>;
  readonly #longMs: number;

  constructor({ atOnce, maxWaiting, longMs = LONG_MS }: BackgroundLaneOptions) {
    this.#ofTokens = new KeyedSemaphore({ atOnce: 1, most: maxWaiting });
    this.#longMs = longMs;
    this.#ofAll = new ResourcePool(atOnce, () => null);
  }

  /** What `work` gives, begun after `turn` and when there is room. Throws OVERLOADED when too many of the token wait. */
  one<T>({ tokenId, tenant }: Caller, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    return this.#ofTokens.use(tokenId, async () => {
      await turn();
      const begun = this.#ofTenants.use(tenant, () => this.#ofAll.use(() => withinOrLater(work(), this.#longMs)));
      return (await begun).result;
    });
  }
}

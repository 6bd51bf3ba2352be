import { KeyedSemaphore } from '../../scheduling/keyed-semaphore.ts';
import type { Caller } from '../../scheduling/caller.ts';

/** Mutations that have begun and have no answer: of a token so many, and of a tenant, as each may hold megabytes … */
const OF_TOKEN = 16;
const OF_TENANT = 64;
/** … and so many more for each of its tokens: who has no more than these waits for no other token. */
const FEW = 2;
/** So many of a token wait for a place. */
const MAX_WAITING = 200;

/** Where mutations are carried out: who sends them and goes away leaves no more behind than its token has places. */
export class MutationPlaces {
  readonly #ofTokens = new KeyedSemaphore({ atOnce: OF_TOKEN, maxUnfinished: OF_TOKEN + MAX_WAITING });
  readonly #ofTenants = new KeyedSemaphore({ atOnce: OF_TENANT, maxUnfinished: Infinity });
  #refused: { at: number; waitedMs: number; error: Error } | null = null;

  /** What `work` gives, begun when there is a place. Throws OVERLOADED when too many of the token wait, and what `refuse` says. */
  use<T>({ tokenId, tenant }: Caller, work: () => Promise<T>): Promise<T> {
    const since = performance.now();
    const begin = (): Promise<T> => {
      const refused = this.#refused;
      if (refused !== null && refused.at - since >= refused.waitedMs) throw refused.error;
      return work();
    };
    return this.#ofTokens.use(tokenId, async () =>
      this.#ofTokens.unfinishedOf(tokenId) <= FEW ? begin() : this.#ofTenants.use(tenant, async () => begin()),
    );
  }

  /** Refuses whoever waits for a place now and has waited at least so long; it is told when it would get it. */
  refuse(waitedMs: number, error: Error): void {
    this.#refused = { at: performance.now(), waitedMs, error };
  }
}

import { doneOrLong } from './done-or-long.ts';
import { Lines } from './lines.ts';
import type { Party } from './party.ts';
import { Slots } from './slots.ts';

const LONG_MS = 2_000;

interface PiecesOptions {
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
export class Pieces {
  readonly #ofTokens: Lines;
  readonly #ofTenants = new Lines({ atOnce: 1, most: Infinity });
  readonly #ofAll: Slots<null>;
  readonly #longMs: number;

  constructor({ atOnce, maxWaiting, longMs = LONG_MS }: PiecesOptions) {
    this.#ofTokens = new Lines({ atOnce: 1, most: maxWaiting });
    this.#longMs = longMs;
    this.#ofAll = new Slots(atOnce, () => null);
  }

  /** What `work` gives, begun after `turn` and when there is room. Throws OVERLOADED when too many of the token wait. */
  one<T>({ tokenId, tenant }: Party, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    return this.#ofTokens.use(tokenId, async () => {
      await turn();
      const begun = this.#ofTenants.use(tenant, () => this.#ofAll.use(() => doneOrLong(work(), this.#longMs)));
      return (await begun).result;
    });
  }
}

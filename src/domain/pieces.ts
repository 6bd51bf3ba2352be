import { AppError } from '../errors.ts';
import { doneOrLong } from './done-or-long.ts';
import type { Party } from './party.ts';
import { Slots } from './slots.ts';

/** One that takes longer goes on beside the next ones of others, so that none of them waits for it for long. */
const LONG_MS = 2_000;

interface PiecesOptions {
  /** Of all callers, unless they take long. */
  atOnce: number;
  /** Of one token. */
  maxWaiting: number;
}

/**
 * What the database does in the background, or for those who ask for much: one piece at a time of each token and, unless
 * it takes long, of each tenant, and few of all together. Tokens of a tenant wait for each other, tenants for each other.
 */
export class Pieces {
  readonly #ofTokens: Lines;
  readonly #ofTenants = new Lines(Infinity);
  readonly #ofAll: Slots<null>;

  constructor({ atOnce, maxWaiting }: PiecesOptions) {
    this.#ofTokens = new Lines(maxWaiting);
    this.#ofAll = new Slots(atOnce, () => null);
  }

  /** What `work` gives, begun after `turn` and when there is room. Throws OVERLOADED when too many of the token wait. */
  one<T>({ tokenId, tenant }: Party, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    return this.#ofTokens.use(tokenId, async () => {
      await turn();
      const begun = this.#ofTenants.use(tenant, () => this.#ofAll.use(() => doneOrLong(work(), LONG_MS)));
      return (await begun).result;
    });
  }
}

/** By name one after the other, in the order in which they come. */
class Lines {
  readonly #most: number;
  readonly #lines = new Map<string, { slot: Slots<null>; unfinished: number }>();

  constructor(most: number) {
    this.#most = most;
  }

  async use<T>(name: string, work: () => Promise<T>): Promise<T> {
    let line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, (line = { slot: new Slots(1, () => null), unfinished: 0 }));
    if (line.unfinished >= this.#most)
      throw new AppError('OVERLOADED', 'Too much of this token is waiting for the database; send less at once.');
    line.unfinished += 1;
    try {
      return await line.slot.use(work);
    } finally {
      line.unfinished -= 1;
      if (line.unfinished === 0) this.#lines.delete(name);
    }
  }
}

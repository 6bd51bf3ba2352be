import { AppError } from '../errors.ts';
import type { Caller } from './caller.ts';

/** Each holds pages in memory, and for as long as its other side likes. */
const MOST = 16;
/** What a tenant has is at most so many times what it leaves free: three quarters, if it is alone; of a token once, half. */
const TIMES_FREE = 3;
/** A tenant that has none gets one also beyond those, up to so many altogether. */
const MOST_IN_ALL = 64;

/** Files that are under way on this node in one direction: so many, of which whoever comes later finds some free. */
export class FilePlaces {
  readonly #what: string;
  readonly #taken: Caller[] = [];

  /** `what`: as an error calls them. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Throws OVERLOADED when there is none for the party. */
  require({ tokenId, tenant }: Caller): void {
    const free = MOST - this.#taken.length;
    const ofToken = this.#taken.filter((other) => other.tokenId === tokenId).length;
    const ofTenant = this.#taken.filter((other) => other.tenant === tenant).length;
    if (ofToken < free && ofTenant < TIMES_FREE * free) return;
    if (ofTenant === 0 && this.#taken.length < MOST_IN_ALL) return;
    throw new AppError('OVERLOADED', `${this.#taken.length} ${this.#what} are under way. Try again in a moment.`, {
      details: { retryAfterSeconds: 5 },
    });
  }

  /** The party has one more, until it gives it back. */
  take(party: Caller): void {
    this.#taken.push(party);
  }

  giveBack(party: Caller): void {
    this.#taken.splice(this.#taken.indexOf(party), 1);
  }
}

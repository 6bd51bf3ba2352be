import { AppError } from '../errors.ts';
import type { Caller } from './caller.ts';

/** Places for files on this node; each holds pages in memory for as long as the client likes. */
const CAPACITY = 16;
/** Maximum places of a tenant as a multiple of the free ones; of a token once. */
const TIMES_FREE = 3;
/** Maximum places overall, for tenants that have none: each gets its first. */
const MAX_TAKEN = 64;

/** Limits the files under way on this node in one direction, so that later tenants find some free. */
export class FilePlaces {
  readonly #what: string;
  readonly #taken: Caller[] = [];

  /** `what`: name of the files in an error. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Throws OVERLOADED when no place is free for the caller. */
  require({ tokenId, tenant }: Caller): void {
    const free = CAPACITY - this.#taken.length;
    const takenByToken = this.#taken.filter((other) => other.tokenId === tokenId).length;
    const takenByTenant = this.#taken.filter((other) => other.tenant === tenant).length;
    if (takenByToken < free && takenByTenant < TIMES_FREE * free) return;
    if (takenByTenant === 0 && this.#taken.length < MAX_TAKEN) return;
    throw new AppError('OVERLOADED', `${this.#taken.length} ${this.#what} are under way. Try again in a moment.`, {
      details: { retryAfterSeconds: 5 },
    });
  }

  /** Takes a place for the caller until it is released. */
  take(caller: Caller): void {
    this.#taken.push(caller);
  }

  release(caller: Caller): void {
    this.#taken.splice(this.#taken.indexOf(caller), 1);
  }
}

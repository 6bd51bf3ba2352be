import { AppError } from '../errors.ts';
import { countsOf } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import type { Caller } from './caller.ts';

const LIMITS = LANES.files;

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
    const free = LIMITS.atOnce - this.#taken.length;
    const takenByToken = this.#taken.filter((other) => other.tokenId === tokenId).length;
    const takenByTenant = this.#taken.filter((other) => other.tenant === tenant).length;
    if (takenByToken < free && takenByTenant < LIMITS.timesFree * free) return;
    if (takenByTenant === 0 && this.#taken.length < LIMITS.atOnceWithFirsts) return;
    countsOf(LIMITS.name).refused += 1;
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

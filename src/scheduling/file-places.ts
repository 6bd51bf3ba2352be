import { AppError } from '../errors.ts';
import { countsOf } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import type { Caller } from './caller.ts';
import { MemoryPool } from './memory-pool.ts';

const LIMITS = LANES.files;

/** Limits the files under way on this node in one direction, so that later tenants find some free. */
export class FilePlaces {
  readonly #what: string;
  /** Shares places instead of bytes: the one that is asked for counts as free, hence one more. Refusals count in the lane. */
  readonly #places = new MemoryPool({
    name: LIMITS.name,
    maxBytes: LIMITS.atOnce + 1,
    timesFree: LIMITS.timesFree,
    timesFreePerToken: 1,
    maxBytesWithFirsts: LIMITS.atOnceWithFirsts,
  });

  /** `what`: name of the files in an error. */
  constructor(what: string) {
    this.#what = what;
  }

  /** Throws OVERLOADED when no place is free for the caller. */
  require(caller: Caller): void {
    const place = this.#places.open(caller);
    const isFree = this.#places.fits(place, 1);
    this.#places.close(place);
    if (isFree) return;
    countsOf(LIMITS.name).refused += 1;
    throw new AppError('OVERLOADED', `${this.#places.bytes} ${this.#what} are under way. Try again in a moment.`, {
      details: { retryAfterSeconds: 5 },
    });
  }

  /** Takes a place for the caller until the returned function is called. */
  take(caller: Caller): () => void {
    const place = this.#places.open(caller);
    this.#places.grow(place, 1);
    return () => this.#places.close(place);
  }
}

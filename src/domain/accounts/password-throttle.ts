import { AppError } from '../../errors.ts';

const FROM_ONE_PLACE = 10;
const FROM_ALL_PLACES = 100;
const WINDOW_MS = 5 * 60_000;
const MAX_KEPT = 10_000;

/**
 * Allows ten wrong passwords for one account, known or not, from one place in five minutes, and a hundred from all
 * places, so that guessing does not lock out the account's owner; then RATE_LIMITED. An attempt counts as failed from
 * its start, so that simultaneous ones do not slip through.
 */
export class PasswordThrottle {
  readonly #fromOne: Attempts;
  readonly #fromAll: Attempts;

  /** `now`: a monotonic clock in ms, so that setting the system's clock neither frees nor locks out anyone. */
  constructor(now: () => number) {
    this.#fromOne = new Attempts(FROM_ONE_PLACE, now);
    this.#fromAll = new Attempts(FROM_ALL_PLACES, now);
  }

  /** Throws RATE_LIMITED, or OVERLOADED when there are too many accounts and places to count for. */
  begin(account: string, place: string): void {
    const both = pairOf(account, place);
    // Check both before counting: one that is rejected counts in neither.
    this.#fromOne.check(both);
    this.#fromAll.check(account);
    this.#fromOne.count(both);
    this.#fromAll.count(account);
  }

  /**
   * Runs `decide` as an attempt; an error, such as an unavailable database, is not a wrong password. Throws as `begin`.
   */
  async attempt<T>(account: string, place: string, decide: () => Promise<T>): Promise<T> {
    this.begin(account, place);
    try {
      return await decide();
    } catch (error) {
      this.#fromOne.takeBack(pairOf(account, place));
      this.#fromAll.takeBack(account);
      throw error;
    }
  }

  succeeded(account: string, place: string): void {
    this.#fromOne.forget(pairOf(account, place));
    this.#fromAll.forget(account);
  }
}

/** A key of place and account; no network address or id holds a blank. */
function pairOf(account: string, place: string): string {
  return `${place} ${account}`;
}

class Attempts {
  readonly #most: number;
  readonly #now: () => number;
  readonly #kept = new Map<string, { count: number; until: number }>();

  constructor(most: number, now: () => number) {
    this.#most = most;
    this.#now = now;
  }

  /** Throws when no more attempts may be counted. */
  check(key: string): void {
    const now = this.#now();
    const attempt = this.#kept.get(key);
    if (attempt === undefined || attempt.until <= now) {
      this.#makeRoom(key, now);
    } else if (attempt.count >= this.#most) {
      const seconds = Math.ceil((attempt.until - now) / 1000);
      throw new AppError('RATE_LIMITED', `Too many wrong passwords for this account; try again in ${seconds} s.`, {
        details: { retryAfterSeconds: seconds },
      });
    }
  }

  /** Counts an attempt, after `check`. */
  count(key: string): void {
    const attempt = this.#kept.get(key);
    if (attempt !== undefined) attempt.count += 1;
    else this.#kept.set(key, { count: 1, until: this.#now() + WINDOW_MS });
  }

  forget(key: string): void {
    this.#kept.delete(key);
  }

  takeBack(key: string): void {
    const attempt = this.#kept.get(key);
    if (attempt !== undefined && (attempt.count -= 1) <= 0) this.#kept.delete(key);
  }

  /**
   * Evicts expired counts only, so that made-up accounts cannot displace real ones: at the maximum, new ones are
   * rejected.
   */
  #makeRoom(key: string, now: number): void {
    this.#kept.delete(key);
    if (this.#kept.size < MAX_KEPT) return;
    // Counts are in the order of their begin, and so of their end.
    for (const [known, { until }] of this.#kept) {
      if (until > now) break;
      this.#kept.delete(known);
    }
    if (this.#kept.size >= MAX_KEPT)
      throw new AppError('OVERLOADED', 'Too many sign-ins with ever new addresses; try again in a few minutes.', {
        details: { retryAfterSeconds: 60 },
      });
  }
}

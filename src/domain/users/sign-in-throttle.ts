import { AppError } from '../../errors.ts';

const FAILURES = 10;
const WINDOW_MS = 5 * 60_000;
const MAX_EMAILS = 10_000;

/**
 * At most ten failed sign-ins for one email address in five minutes, known or not; then RATE_LIMITED. An attempt counts
 * as failed from its start, so that many at once do not slip through.
 */
export class SignInThrottle {
  readonly #now: () => number;
  readonly #attempts = new Map<string, { count: number; until: number }>();

  /** `now`: a monotonic clock in ms, so that setting the system's frees nobody and locks nobody out. */
  constructor(now: () => number) {
    this.#now = now;
  }

  begin(email: string): void {
    const now = this.#now();
    let attempt = this.#attempts.get(email);
    if (attempt === undefined || attempt.until <= now) {
      this.#makeRoom(email, now);
      attempt = { count: 0, until: now + WINDOW_MS };
      this.#attempts.set(email, attempt);
    }
    if (attempt.count >= FAILURES) {
      const seconds = Math.ceil((attempt.until - now) / 1000);
      throw new AppError(
        'RATE_LIMITED',
        `Too many failed sign-ins for this email address; try again in ${seconds} s.`,
        {
          details: { retryAfterSeconds: seconds },
        },
      );
    }
    attempt.count += 1;
  }

  /** Nobody is forgotten before their time, so that made-up addresses do not wash the real ones out: who is new waits. */
  #makeRoom(email: string, now: number): void {
    this.#attempts.delete(email);
    if (this.#attempts.size < MAX_EMAILS) return;
    // In the order of their beginning, which is that of their end.
    for (const [known, { until }] of this.#attempts) {
      if (until > now) break;
      this.#attempts.delete(known);
    }
    if (this.#attempts.size >= MAX_EMAILS)
      throw new AppError('OVERLOADED', 'Too many sign-ins with ever new addresses; try again in a few minutes.', {
        details: { retryAfterSeconds: 60 },
      });
  }

  succeeded(email: string): void {
    this.#attempts.delete(email);
  }
}

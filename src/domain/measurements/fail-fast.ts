import { AppError } from '../../errors.ts';

/** Who has waited so long for what failed with the database waits for no time-out of his own: they would follow each other. */
const WAITED_FOR_NOTHING_MS = 4_000;

/** Of those who stand in a line for the database: whether what they have waited for was worth it. */
export class FailFast {
  /** When the database had no answer for one of the line, the last time. */
  #failedAt = -Infinity;

  /** What `work` gives; OVERLOADED, with the message, for who has waited in vain since then. */
  async after<T>(since: number, message: string, work: () => Promise<T>): Promise<T> {
    if (this.#failedAt - since >= WAITED_FOR_NOTHING_MS)
      throw new AppError('OVERLOADED', message, { details: { retryAfterSeconds: 2 } });
    try {
      return await work();
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAVAILABLE') this.#failedAt = performance.now();
      throw error;
    }
  }
}

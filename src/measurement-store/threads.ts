import { Thread, type ThreadOptions } from './thread.ts';
import { must } from '../must.ts';

/** Maximum late answers: questions are short, and one may wait its turn among many. */
const MOST_OVERDUE = 1_000;

/**
 * Some threads that do the same. Short questions go to the first, which gets none that may take long: they go to the
 * other with the fewest to answer.
 */
export class Threads<Job> {
  readonly #threads: { thread: Thread<Job>; asked: number }[];

  constructor(count: number, options: ThreadOptions) {
    const each = { ...options, mostOverdue: MOST_OVERDUE };
    this.#threads = Array.from({ length: count }, () => ({ thread: new Thread<Job>(each), asked: 0 }));
  }

  /** Starts the first, and rejects if that fails; the others start when they are needed. */
  start(): Promise<void> {
    return must(this.#threads[0]).thread.start();
  }

  /** `longMs`: it may take long, at most this. */
  async ask<T>(job: Job, longMs?: number): Promise<T> {
    const [first, ...others] = this.#threads;
    const forLong = others.reduce((least, other) => (other.asked < least.asked ? other : least));
    const chosen = longMs === undefined ? must(first) : forLong;
    chosen.asked++;
    try {
      return await chosen.thread.ask<T>(job, undefined, longMs);
    } finally {
      chosen.asked--;
    }
  }

  async terminate(): Promise<void> {
    await Promise.all(this.#threads.map(({ thread }) => thread.terminate()));
  }
}

import { Thread, type ThreadOptions } from './thread.ts';

/** Some threads that do the same: a question goes to the one with the fewest to answer, so that short ones pass long ones. */
export class Threads<Job> {
  readonly #threads: { thread: Thread<Job>; asked: number }[];

  constructor(count: number, options: ThreadOptions) {
    this.#threads = Array.from({ length: count }, () => ({ thread: new Thread<Job>(options), asked: 0 }));
  }

  /** Starts one of them, and rejects if that fails; the others start when they are needed. */
  start(): Promise<void> {
    return this.#threads[0]!.thread.start();
  }

  /** `limitMs` as in `Thread`. */
  async ask<T>(job: Job, limitMs?: number): Promise<T> {
    const chosen = this.#threads.reduce((least, other) => (other.asked < least.asked ? other : least));
    chosen.asked++;
    try {
      return await chosen.thread.ask<T>(job, undefined, limitMs);
    } finally {
      chosen.asked--;
    }
  }

  async terminate(): Promise<void> {
    await Promise.all(this.#threads.map(({ thread }) => thread.terminate()));
  }
}

/** Asking the system costs a part of a short run. */
const STALE_MS = 2;
/** Shorter ones are told by the wall clock, which is finer. */
const SHORT_MS = 5;

/** The processor time of this thread, for runs on it. */
export class ThreadClock {
  #readAt = -Infinity;
  #readMs = 0;
  #unseenMs = 0;

  /** A run begins (`now` as of `performance.now`). */
  begin(now: number): void {
    if (now - this.#readAt > STALE_MS) {
      this.#readMs = threadMs();
      this.#readAt = now;
    }
    this.#unseenMs = now - this.#readAt;
  }

  /** What the run that began has used, in ms: never more than the given wall time. */
  usedMs(wallMs: number): number {
    if (wallMs < SHORT_MS) return wallMs;
    return Math.max(0, Math.min(wallMs, threadMs() - this.#readMs - this.#unseenMs));
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Maximum age of a reading, as reading the clock takes part of a short run. */
const STALE_MS = 2;
/** Runs below this take the wall clock, which is finer. */
const SHORT_MS = 5;

/** Processor time of this thread, for the runs on it. */
export class ThreadClock {
  #readAt = -Infinity;
  #readMs = 0;
  #unseenMs = 0;

  /** Begins a run (`now` as of `performance.now`). */
  begin(now: number): void {
    if (now - this.#readAt > STALE_MS) {
      this.#readMs = threadMs();
      this.#readAt = now;
    }
    this.#unseenMs = now - this.#readAt;
  }

  /** Processor time of the run in ms, at most the given wall time. */
  usedMs(wallMs: number): number {
    if (wallMs < SHORT_MS) return wallMs;
    return Math.max(0, Math.min(wallMs, threadMs() - this.#readMs - this.#unseenMs));
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 100;

/**
 * Time as it passes for a process that has the machine: what it spends stopped (SIGSTOP) or waiting for a processor is
 * not counted, nor what its observer does, so that whatever takes long by this clock takes long for its own sake.
 */
export class FairClock {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  readonly #alarms = new Set<{ at: number; ring: () => void }>();
  #last = performance.now();
  #waited: number;
  #now = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#waited = this.#waitedMs();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Milliseconds, a tenth of a second exact. */
  now(): number {
    return this.#now;
  }

  /** Calls once when so much time has passed; what it gives takes the alarm back. */
  alarm(afterMs: number, ring: () => void): () => void {
    const alarm = { at: this.#now + afterMs, ring };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = performance.now();
    // The observer did not get its turn either.
    const passed = Math.min(now - this.#last, 2 * TICK_MS);
    const waited = this.#waitedMs();
    if (!this.#isStopped()) this.#now += Math.max(0, passed - (waited - this.#waited));
    this.#last = now;
    this.#waited = waited;
    for (const alarm of this.#alarms) {
      if (alarm.at > this.#now) continue;
      this.#alarms.delete(alarm);
      alarm.ring();
    }
  }

  /** For how long its threads, added up, have waited for a processor so far. */
  #waitedMs(): number {
    try {
      const threads = readdirSync(`/proc/${this.#pid}/task`);
      const read = (thread: string): string =>
        readFileSync(`/proc/${this.#pid}/task/${thread}/schedstat`, 'latin1').split(' ')[1]!;
      return threads.reduce((sum, thread) => sum + Number(read(thread)) / 1e6, 0);
    } catch {
      // A thread has just ended, or the process: then others see it.
      return this.#waited ?? 0;
    }
  }

  #isStopped(): boolean {
    try {
      return /\) [Tt] /.test(readFileSync(`/proc/${this.#pid}/stat`, 'latin1'));
    } catch {
      return false;
    }
  }
}

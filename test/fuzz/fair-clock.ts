import { readFileSync } from 'node:fs';
import { eventLoopTime } from '../support/processor-time.ts';

const TICK_MS = 100;

/**
 * Time as it passes for processes that have the machine: while one of them is stopped (SIGSTOP), waits for a processor,
 * or its observer does, it stands still, so that whatever takes long by this clock takes long for its own sake.
 */
export class FairClock {
  readonly #pids: () => readonly number[];
  readonly #timer: NodeJS.Timeout;
  readonly #alarms = new Set<{ at: number; ring: () => void }>();
  #last = performance.now();
  #waited = new Map<number, number>();
  #now = 0;

  constructor(pids: () => readonly number[]) {
    this.#pids = pids;
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
    const lostMs = this.#pids().map((pid) => this.#lostMs(pid));
    this.#now += Math.max(0, passed - Math.max(0, ...lostMs));
    this.#last = now;
    for (const alarm of this.#alarms) {
      if (alarm.at > this.#now) continue;
      this.#alarms.delete(alarm);
      alarm.ring();
    }
  }

  /** What the first thread of a process could not use since it was last looked at. */
  #lostMs(pid: number): number {
    try {
      if (/\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return Infinity;
      const { waitedMs } = eventLoopTime(pid);
      const before = this.#waited.get(pid) ?? waitedMs;
      this.#waited.set(pid, waitedMs);
      return waitedMs - before;
    } catch {
      // It is gone: others see that.
      return 0;
    }
  }
}

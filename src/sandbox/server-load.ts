const LATE_MS = 50;
const EVERY = 10;
/** Share of time at work from which the thread counts as busy. */
const BUSY_FROM = 0.2;

/** Load of the server's own thread, measured by a timer of the given period. */
export class ServerLoad {
  readonly #periodMs: number;
  #lastTick = performance.now();
  #ticks = 0;
  #utilization = performance.eventLoopUtilization();
  #isBusy = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Whether the thread was at work for a fifth of the time lately. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Ticks in its period from now on; `isInTime` false: something held the thread. */
  start(onTick: (isInTime: boolean) => void): void {
    this.#timer = setInterval(() => onTick(this.tick(performance.now())), this.#periodMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Returns false if the timer is late because something held the thread. */
  tick(now: number): boolean {
    const isInTime = now - this.#lastTick <= this.#periodMs + LATE_MS;
    this.#lastTick = now;
    this.#ticks += 1;
    if (this.#ticks % EVERY === 0) {
      const utilization = performance.eventLoopUtilization();
      this.#isBusy = performance.eventLoopUtilization(utilization, this.#utilization).utilization > BUSY_FROM;
      this.#utilization = utilization;
    }
    return isInTime;
  }
}

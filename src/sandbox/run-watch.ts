import { processorUse, residentMb, wantsProcessor } from './process-usage.ts';

interface WatchLimits {
  /** Processor time of one run. */
  timeoutMs: number;
  memoryMb: number;
}

/** How late the process may end a run itself, and a new isolate be made, before it is killed. */
const GRACE_MS = 150;
/** A run that was ended without having had its time begins again (see `ProductIsolate`). */
const WITH_ATTEMPTS = 1.75;
/** Wall time for each millisecond of the limit, as a last resort: a machine may let a run have little of its processors. */
const MAX_STARVED = 12;
/** A run that had less than this part of its time by then was stopped, or had no processor. */
const FAIR_SHARE = 0.75;
const START_MS = 15_000;
/** A process is looked at so often or less; what it uses before the first look is not known. */
const UNSEEN_MS = 40;
/** So long without a wish for a processor, a run does not compute: V8 has put the thread to sleep for want of memory. */
const ASLEEP_MS = 600;

/** Whether the run that a decoder process is at is over its limits, told from outside. Times are of `performance.now`. */
export class RunWatch {
  readonly #pid: number | undefined;
  readonly #limits: WatchLimits;
  #since = performance.now();
  /** Memory of the process at the first look at the run; NaN: not looked at yet. */
  #beganRssMb = NaN;
  /** Processor time of the process when the run that is being watched began; NaN: not looked at yet. */
  #beganMs = NaN;
  #lastMs = -1;
  #asleepSince = Infinity;
  #isComputing = false;

  constructor(pid: number | undefined, limits: WatchLimits) {
    this.#pid = pid;
    this.#limits = limits;
  }

  /** Since when the oldest job under way can be running. */
  get since(): number {
    return this.#since;
  }

  /** It has used a processor between the last two looks at it. */
  get isComputing(): boolean {
    return this.#isComputing;
  }

  /**
   * A run begins, or can do so only now. What the process holds by then is not the run's: others of its process, also of
   * other products, may have grown it since anybody looked.
   */
  begin(now: number): void {
    this.#since = now;
    this.#beganMs = NaN;
    this.#beganRssMb = NaN;
    this.#asleepSince = Infinity;
    this.#lastMs = -1;
    this.#isComputing = false;
  }

  /** For a process that is not ready yet, or has not taken in what it is to run. */
  startVerdict(now: number): 'ENDED' | null {
    return now - this.#since > START_MS ? 'ENDED' : null;
  }

  /** For a process at work: which limit the run has passed, null while it has passed none. */
  verdict(now: number): 'TIMEOUT' | 'OUT_OF_MEMORY' | 'STARVED' | null {
    const busyMs = now - this.#since;
    if (busyMs < 15) return null;
    const { timeoutMs, memoryMb } = this.#limits;
    const rssMb = residentMb(this.#pid);
    const { ms, sleeping } = processorUse(this.#pid);
    // What could not be known is looked at again.
    if (!(this.#beganRssMb > 0)) this.#beganRssMb = rssMb;
    if (!Number.isFinite(this.#beganMs)) this.#beganMs = ms - Math.min(busyMs, UNSEEN_MS);
    if (!sleeping || ms !== this.#lastMs) this.#asleepSince = now;
    this.#isComputing = this.#lastMs >= 0 && ms > this.#lastMs;
    this.#lastMs = ms;
    const grownMb = rssMb - this.#beganRssMb;
    if (grownMb > memoryMb * 2 + 32) return 'OUT_OF_MEMORY';
    if (busyMs > timeoutMs + GRACE_MS && now - this.#asleepSince > ASLEEP_MS) {
      if (!wantsProcessor(this.#pid)) return 'OUT_OF_MEMORY';
      // The machine lets its threads have nothing.
      this.#asleepSince = now;
    }
    // Where the processor time cannot be known it counts as all of the wall time.
    const usedMs = ms === Infinity ? busyMs : ms - this.#beganMs;
    const isOver = usedMs > timeoutMs * WITH_ATTEMPTS + GRACE_MS || busyMs > (timeoutMs + GRACE_MS) * MAX_STARVED;
    if (!isOver) return null;
    if (grownMb > memoryMb) return 'OUT_OF_MEMORY';
    return usedMs < timeoutMs * FAIR_SHARE ? 'STARVED' : 'TIMEOUT';
  }
}

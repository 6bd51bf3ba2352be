import { processorUse, residentMb, wantsProcessor } from './process-usage.ts';

interface WatchLimits {
  /** Processor time of one run. */
  timeoutMs: number;
  memoryMb: number;
}

/** Maximum delay for a process to end a run itself, and to make a new isolate, before it is killed. */
const GRACE_MS = 150;
/** Factor on the limit, as a run ended without its full time begins again (see `ProductIsolate`). */
const WITH_ATTEMPTS = 1.75;
/** Maximum wall time per millisecond of the limit, for a machine that lets a run have little processor time. */
const MAX_STARVED = 12;
/** Minimum share of its processor time; a run that had less was stopped or starved. */
const FAIR_SHARE = 0.75;
const START_MS = 15_000;
/** Maximum time between two looks; usage before the first look is unknown. */
const UNSEEN_MS = 40;
/**
 * Time without a wish for a processor after which a run does not compute: V8 has stopped its thread for lack of memory.
 */
const ASLEEP_MS = 600;

/** Watches from outside whether the running job is over its limits. Times are those of `performance.now`. */
export class RunWatch {
  readonly #pid: number | undefined;
  readonly #limits: WatchLimits;
  #since = performance.now();
  /** Memory of the process at the first look at the run; NaN before. */
  #beganRssMb = NaN;
  /** Processor time of the process when the run began; NaN before the first look. */
  #beganMs = NaN;
  #lastMs = -1;
  #asleepSince = Infinity;
  #isComputing = false;

  constructor(pid: number | undefined, limits: WatchLimits) {
    this.#pid = pid;
    this.#limits = limits;
  }

  /** When the oldest job under way could start. */
  get since(): number {
    return this.#since;
  }

  /** Whether it used a processor between the last two looks. */
  get isComputing(): boolean {
    return this.#isComputing;
  }

  /** Begins a run. Memory that the process holds by then is not counted for it, as other runs may have grown it. */
  begin(now: number): void {
    this.#since = now;
    this.#beganMs = NaN;
    this.#beganRssMb = NaN;
    this.#asleepSince = Infinity;
    this.#lastMs = -1;
    this.#isComputing = false;
  }

  /** Verdict on a process that has not started yet, or not read its job. */
  startVerdict(now: number): 'ENDED' | null {
    return now - this.#since > START_MS ? 'ENDED' : null;
  }

  /** Limit that the running job has passed; null: none. */
  verdict(now: number): 'TIMEOUT' | 'OUT_OF_MEMORY' | 'STARVED' | null {
    const busyMs = now - this.#since;
    if (busyMs < 15) return null;
    const { timeoutMs, memoryMb } = this.#limits;
    const rssMb = residentMb(this.#pid);
    const { ms, sleeping } = processorUse(this.#pid);
    // Unknown values are looked at again.
    if (!(this.#beganRssMb > 0)) this.#beganRssMb = rssMb;
    if (!Number.isFinite(this.#beganMs)) this.#beganMs = ms - Math.min(busyMs, UNSEEN_MS);
    if (!sleeping || ms !== this.#lastMs) this.#asleepSince = now;
    this.#isComputing = this.#lastMs >= 0 && ms > this.#lastMs;
    this.#lastMs = ms;
    const grownMb = rssMb - this.#beganRssMb;
    if (grownMb > memoryMb * 2 + 32) return 'OUT_OF_MEMORY';
    if (busyMs > timeoutMs + GRACE_MS && now - this.#asleepSince > ASLEEP_MS) {
      if (!wantsProcessor(this.#pid)) return 'OUT_OF_MEMORY';
      // The machine gives its threads no processor.
      this.#asleepSince = now;
    }
    // If processor time is unknown, wall time counts.
    const usedMs = ms === Infinity ? busyMs : ms - this.#beganMs;
    const isOver = usedMs > timeoutMs * WITH_ATTEMPTS + GRACE_MS || busyMs > (timeoutMs + GRACE_MS) * MAX_STARVED;
    if (!isOver) return null;
    if (grownMb > memoryMb) return 'OUT_OF_MEMORY';
    return usedMs < timeoutMs * FAIR_SHARE ? 'STARVED' : 'TIMEOUT';
  }
}

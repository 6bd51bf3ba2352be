import { DecoderProcess, type Loss } from './decoder-process.ts';
import type { PoolJob } from './pool-job.ts';

interface RosterOptions {
  /** Of the fast lane. */
  processes: number;
  timeoutMs: number;
  memoryMb: number;
  worker?: string | undefined;
}

interface RosterEvents {
  /** There is room where there was none. */
  room(): void;
  result(process: DecoderProcess, job: PoolJob, durationMs: number, text: string): void;
  lost(loss: Loss): void;
}

const FAST_WINDOW = 32;
/** A run that takes longer while others wait goes on aside. */
const ASIDE_MS = 25;
/** With a full set of isolates, some 5 MB each. */
const MAX_IDLE_RSS_MB = 500;
const RECYCLE_RUNS = 500_000;
const RECYCLE_EVERY_MS = 1_000;
const SLOW_IDLE_MS = 60_000;
/** For offenders; and for their processes while these start, which must come to an end on a busy machine. */
const SLOW_PRIORITY = 15;
const STARTING_PRIORITY = 5;
/** Starting processes costs everybody time, so those who use them up wait for each. */
const SLOW_PAUSE_MS = 400;
const MAX_PAUSE_MS = 5_000;

/**
 * The decoder processes: those of the fast lane, one of the slow lane while it is needed, a spare one that is up and
 * waits, so that a kill or a recycling costs nobody anything, and those that finish a long run aside.
 */
export class ProcessRoster {
  readonly #options: RosterOptions;
  readonly #events: RosterEvents;
  readonly #fast: (DecoderProcess | null)[];
  readonly #aside = new Set<DecoderProcess>();
  #slow: DecoderProcess | null = null;
  #spare: DecoderProcess | null = null;
  #slowUsedAt = 0;
  #slowFrom = 0;
  /** The last process of the slow lane was killed: the next one does not get the spare. */
  #slowFailed = false;
  #failedStarts = 0;
  #recycleAt = 0;
  /** Whether a process that ends is replaced. */
  #replaces: () => boolean;

  constructor(options: RosterOptions, replaces: () => boolean, events: RosterEvents) {
    this.#options = options;
    this.#replaces = replaces;
    this.#events = events;
    this.#fast = Array.from({ length: Math.max(1, options.processes) }, () => this.#start(FAST_WINDOW, 0));
  }

  /** A process of the fast lane has answered. */
  get isUp(): boolean {
    return this.#fast.some((process) => process?.isReady === true);
  }

  /** The process of the fast lane that has room and the least to do, null when there is none. */
  fastWithRoom(): DecoderProcess | null {
    let best: DecoderProcess | null = null;
    for (const process of this.#fast) {
      if (process?.hasRoom() === true && (best === null || process.load < best.load)) best = process;
    }
    return best;
  }

  /**
   * The process of the slow lane if it is free; started when there is none. Suspects run at normal priority, since most
   * of them are innocent; everybody else stands back.
   */
  slowWithRoom(forSuspect: boolean, now: number): DecoderProcess | null {
    if (forSuspect && this.#slow?.isLow === true && this.#slow.hasRoom()) {
      void this.#slow.retire();
      this.#slow = null;
      this.#slowFailed = false;
    }
    if (this.#slow === null && now >= this.#slowFrom) {
      // A first offender gets the spare process; one that kills its processes waits for new ones of low priority.
      const spare = this.#slowFailed ? null : this.#takeSpare();
      this.#slow = spare ?? this.#start(1, forSuspect ? 0 : STARTING_PRIORITY);
      this.#slow.become({ window: 1, priority: 0 });
      this.#slowFailed = false;
    }
    if (this.#slow?.hasRoom() !== true) return null;
    this.#slowUsedAt = now;
    if (!forSuspect) this.#slow.become({ window: 1, priority: SLOW_PRIORITY });
    return this.#slow;
  }

  isSlow(process: DecoderProcess): boolean {
    return process === this.#slow;
  }

  /** Resident memory of each process in bytes, by its place. */
  memory(): Record<string, number> {
    const named = (name: string, processes: Iterable<DecoderProcess | null>): [string, number][] =>
      [...processes].map((process, index) => [`${name} ${index}`, Math.round((process?.rssMb() ?? 0) * 1_048_576)]);
    return Object.fromEntries([
      ...named('fast', this.#fast),
      ...named('slow', [this.#slow]),
      ...named('spare', [this.#spare]),
      ...named('aside', this.#aside),
    ]);
  }

  /** Kills what is over its limits; to be called every few milliseconds. */
  watch(now: number): void {
    for (const process of this.#all()) process.watch(now);
  }

  /**
   * Others wait for a long run: the spare process takes its process's place, and it goes on aside, whoever it is. It may
   * be a decoder that is just slow, or one that the machine did not let run, so nothing is held against it. The jobs that
   * began to run aside.
   */
  setAside(now: number): PoolJob[] {
    const jobs: PoolJob[] = [];
    for (const [index, process] of this.#fast.entries()) {
      if (process === null || process.busyMs(now) <= ASIDE_MS) continue;
      const spare = this.#takeSpare();
      if (spare === null) break;
      this.#fast[index] = spare;
      this.#aside.add(process);
      if (process.runningJob !== null) jobs.push(process.runningJob);
    }
    return jobs;
  }

  /** Replaces what has grown or grown old; the new process is up before the old one goes. */
  recycle(now: number): void {
    if (now < this.#recycleAt) return;
    this.#recycleAt = now + RECYCLE_EVERY_MS;
    const maxRssMb = MAX_IDLE_RSS_MB + this.#options.memoryMb;
    const slow = this.#slow;
    if (slow?.isReady === true && slow.load === 0) {
      if (now - this.#slowUsedAt > SLOW_IDLE_MS || slow.rssMb() > maxRssMb) {
        this.#slow = null;
        void slow.retire();
      }
    }
    const index = this.#fast.findIndex(
      (process) => process?.isReady === true && (process.runs > RECYCLE_RUNS || process.rssMb() > maxRssMb),
    );
    const old = this.#fast[index];
    const spare = old == null ? null : this.#takeSpare();
    if (old == null || spare === null) return;
    this.#fast[index] = spare;
    void old.retire();
  }

  /** Ends all processes, those at work at once. */
  async stop(): Promise<void> {
    const all = this.#all();
    for (const process of all) if (process.load > 0) process.kill('ENDED');
    await Promise.all(all.map((process) => process.retire()));
  }

  #all(): DecoderProcess[] {
    return [...this.#fast, ...this.#aside, this.#slow, this.#spare].filter((process) => process !== null);
  }

  #start(window: number, priority: number): DecoderProcess {
    const { timeoutMs, memoryMb, worker } = this.#options;
    const process: DecoderProcess = new DecoderProcess(
      { timeoutMs, memoryMb, window, priority, worker },
      {
        ready: () => {
          this.#failedStarts = 0;
          this.#startSpare();
          this.#events.room();
        },
        result: (job, durationMs, wallMs, text) => {
          job.wallMs += wallMs;
          this.#events.result(process, job, durationMs, text);
          if (process.load === 0 && this.#aside.delete(process)) this.#backFromAside(process);
          this.#events.room();
        },
        gone: (loss) => {
          if (!loss.wasReady) this.#failedStarts += 1;
          this.#replace(process);
          this.#events.lost(loss);
        },
      },
    );
    return process;
  }

  #backFromAside(process: DecoderProcess): void {
    if (this.#spare === null) this.#spare = process;
    else void process.retire();
  }

  #replace(process: DecoderProcess): void {
    const index = this.#fast.indexOf(process);
    this.#aside.delete(process);
    if (index >= 0) {
      this.#fast[index] = this.#takeSpare();
      if (this.#fast[index] === null) this.#again(() => (this.#fast[index] ??= this.#start(FAST_WINDOW, 0)));
    } else if (process === this.#slow) {
      this.#slow = null;
      this.#slowFailed = true;
      this.#slowFrom = performance.now() + SLOW_PAUSE_MS;
    } else {
      if (process === this.#spare) this.#spare = null;
      this.#again(() => this.#startSpare());
    }
  }

  /** The spare one if it is up; another takes its place. */
  #takeSpare(): DecoderProcess | null {
    const spare = this.#spare;
    if (spare?.isReady !== true) return null;
    this.#spare = null;
    setImmediate(() => this.#startSpare());
    return spare;
  }

  /** Not before all others are up: they are waited for. */
  #startSpare(): void {
    if (this.#spare !== null || !this.#replaces() || !this.#fast.every((process) => process?.isReady === true)) return;
    this.#spare = this.#start(FAST_WINDOW, 0);
  }

  /** At once after a kill; ever later when processes do not even start. */
  #again(start: () => void): void {
    const attempt = (): void => {
      if (this.#replaces()) start();
    };
    if (this.#failedStarts === 0) attempt();
    else setTimeout(attempt, Math.min(MAX_PAUSE_MS, 100 * 2 ** this.#failedStarts)).unref();
  }
}

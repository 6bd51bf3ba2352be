import { DecoderProcess, type Loss } from './decoder-process.ts';
import { NOT_BEGUN } from './frames.ts';
import { hold, isSlow, release, START_MS } from './penalties.ts';
import type { Lane, PoolJob } from './pool-job.ts';

/** Number of processes, and limits of one run (CONTRACT 2, 5). */
export interface RosterOptions {
  /** Processes of the fast lane; others come and go beside them. */
  processes: number;
  /** Processor time of one run. */
  timeoutMs: number;
  /** Memory of one product's isolate. */
  memoryMb: number;
  /** Maximum runs per process before it is replaced; 500,000 by default. */
  recycleRuns?: number;
  /** Program of the processes, decoder.worker by default; a test may pass one that lies. */
  worker?: string | undefined;
}

interface RosterEvents {
  /** A process has room again. */
  room(): void;
  /** `keptMs`: wall time that it kept the process, with all that was prepared for it. */
  result(job: PoolJob, durationMs: number, keptMs: number, text: string): void;
  lost(loss: Loss): void;
}

/**
 * Place of a process. `spare`: started in advance, so that no job waits for a start; `fast`, `slow`, `barred`: serves
 * that lane; `aside`: finishes a long run or a suspect, or is worn, and then becomes the spare or `ending`. Any of them
 * may be killed.
 */
type Place = Lane | 'spare' | 'aside' | 'ending';

const FAST_WINDOW = 32;
/** Maximum time of a run in the fast lane while others wait; longer ones go on aside. */
const ASIDE_MS = 25;
const MAX_ASIDE = 8;
/** Maximum idle memory per process, with a full set of isolates. */
const MAX_IDLE_RSS_MB = 500;
const RECYCLE_RUNS = 500_000;
const RECYCLE_EVERY_MS = 1_000;
const SLOW_IDLE_MS = 60_000;
/** Priority of the slow and barred processes, and while they start, which must end even on a busy machine. */
const SLOW_PRIORITY = 10;
const STARTING_PRIORITY = 5;
/** Minimum pause between starts of a lane's process, as starting takes everybody's time. */
const SLOW_PAUSE_MS = 400;
const MAX_PAUSE_MS = 5_000;

/** Decoder processes: their places, and when one is started or ended. */
export class ProcessPool {
  readonly #options: RosterOptions;
  readonly #events: RosterEvents;
  readonly #places = new Map<DecoderProcess, Place>();
  /** `failed`: how often in a row; `upSince`: when a process was up for the first time. */
  readonly #starts = { failed: 0, upSince: null as number | null };
  /** Earliest next start, overall and per lane. */
  #startFrom = 0;
  readonly #laneFrom = { slow: 0, barred: 0 };
  #recycleAt = 0;
  /** `nothing` until `begin`, the fast lane's until the first job, a spare beside them from then on. */
  #wanted: 'nothing' | 'fast' | 'all' = 'nothing';
  /** No process is started any more. */
  isStopping = false;

  constructor(options: RosterOptions, events: RosterEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Starts the processes of the fast lane in advance; else the first job does. */
  begin(): void {
    if (this.#wanted === 'nothing') this.#wanted = 'fast';
    this.#fill(performance.now());
  }

  /** A process of the fast lane has answered, or none is wanted yet. */
  get isUp(): boolean {
    return this.#wanted === 'nothing' || this.#in('fast').some((process) => process.isReady);
  }

  /** The first process starts, or has been up for no longer than that. */
  isNew(now: number, forMs: number): boolean {
    return this.#starts.failed === 0 && (this.#starts.upSince === null || now - this.#starts.upSince < forMs);
  }

  /**
   * Process where the next job of a lane can run; null: none now. The slow and barred lanes have one process of low
   * priority each, started when needed; a suspect, most likely innocent, gets the spare process to itself.
   */
  processFor(lane: Lane, { isSuspect }: PoolJob, now: number): DecoderProcess | null {
    if (this.#wanted !== 'all') {
      this.#wanted = 'all';
      this.#fill(now);
    }
    if (lane === 'fast') return this.#fastWithRoom();
    if (isSuspect) return this.#putSpare('aside');
    const [own] = this.#in(lane);
    const from = Math.max(this.#laneFrom[lane], this.#startFrom);
    if (own === undefined && now >= from && !this.isStopping) this.#start(lane);
    return own?.hasRoom() === true ? own : null;
  }

  /** Resident memory of each process in bytes, by its place (`fast 0`, `slow 0`, …). */
  memory(): Record<string, number> {
    const nameOf = (process: DecoderProcess, place: Place): string => `${place} ${this.#in(place).indexOf(process)}`;
    const bytes = (process: DecoderProcess): number => Math.round(process.rssMb() * 1_048_576);
    return Object.fromEntries([...this.#places].map(([one, place]) => [nameOf(one, place), bytes(one)]));
  }

  /** Kills processes over their limits; call it every few milliseconds. */
  watch(now: number): void {
    for (const process of this.#places.keys()) process.watch(now);
  }

  /**
   * Moves long runs aside while others wait: the spare takes their place in the lane. The product is not blamed, as its
   * decoder or the machine may just be slow; its other jobs wait for the end of the run.
   */
  setAside(now: number): void {
    for (const process of this.#in('fast')) {
      if (process.busyMs(now) <= ASIDE_MS || !this.#replace(process)) continue;
      if (process.runningJob !== null) hold(process.runningJob.product);
    }
  }

  /**
   * Frees jobs that wait within a process behind a long run of another workspace; the spare takes its place, unless it
   * has already.
   */
  letGo(now: number): PoolJob[] {
    return [...this.#in('aside'), ...this.#in('fast')].flatMap((process) => {
      if (!process.holdsUp(now)) return [];
      if (this.#places.get(process) === 'fast' && this.#putSpare('fast') === null) return [];
      this.#places.set(process, 'ending');
      return process.letGo(START_MS);
    });
  }

  /** Starts missing processes and now and then replaces worn ones; call it every few milliseconds. */
  maintain(now: number): void {
    this.#fill(now);
    if (now < this.#recycleAt) return;
    this.#recycleAt = now + RECYCLE_EVERY_MS;
    for (const process of this.#in('fast')) if (process.isReady && this.#isWorn(process)) this.#replace(process);
    for (const process of this.#readySpares().slice(1)) this.#end(process);
    for (const process of [...this.#in('slow'), ...this.#in('barred')]) {
      const isIdle = process.idleMs(now) > SLOW_IDLE_MS;
      if (process.isReady && (isIdle || this.#isWorn(process))) this.#end(process);
    }
  }

  /** Ends all processes; those at work give their jobs back at once. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const all = [...this.#places.keys()];
    for (const process of all) if (process.load > 0) process.kill('GIVEN_BACK');
    await Promise.all(all.map((process) => process.retire()));
  }

  #fastWithRoom(): DecoderProcess | null {
    let best: DecoderProcess | null = null;
    for (const [process, place] of this.#places) {
      if (place === 'fast' && process.hasRoom() && (best === null || process.load < best.load)) best = process;
    }
    return best;
  }

  #in(wanted: Place): DecoderProcess[] {
    return [...this.#places].filter(([, place]) => place === wanted).map(([process]) => process);
  }

  /**
   * Starts missing processes unless starts failed lately: first the fast lane's, then a spare once those are up and
   * used.
   */
  #fill(now: number): void {
    if (this.isStopping || this.#wanted === 'nothing') return;
    while (this.#in('fast').length < Math.max(1, this.#options.processes)) {
      const spare = this.#readySpares()[0] ?? this.#in('spare')[0];
      if (spare !== undefined) this.#places.set(spare, 'fast');
      else if (now >= this.#startFrom) this.#start('fast');
      else return;
    }
    if (this.#wanted !== 'all' || this.#in('spare').length > 0 || now < this.#startFrom) return;
    if (this.#in('fast').every((process) => process.isReady)) this.#start('spare');
  }

  #start(place: Lane | 'spare'): void {
    const standsBack = place === 'slow' || place === 'barred';
    const serves = standsBack ? { window: 1, priority: STARTING_PRIORITY } : { window: FAST_WINDOW, priority: 0 };
    const process: DecoderProcess = new DecoderProcess(
      { ...this.#options, ...serves },
      {
        ready: () => {
          this.#starts.failed = 0;
          this.#starts.upSince ??= performance.now();
          if (standsBack) process.standBack(SLOW_PRIORITY);
          this.#fill(performance.now());
          this.#events.room();
        },
        result: (job, { durationMs, wallMs, usedMs, keptMs }, text) => {
          job.wallMs += wallMs;
          job.usedMs += usedMs;
          // Jobs that have not begun may be all that a process had when it went aside; its product waits for them.
          if (text !== NOT_BEGUN || process.load === 0) release(job.product);
          this.#events.result(job, durationMs, keptMs, text);
          // Jobs of a product that became slow would hold up others in the same process.
          if (isSlow(job.product, performance.now()) && process.carriesOthers(job)) process.kill('GIVEN_BACK');
          this.#settle(process);
          this.#events.room();
        },
        gone: (loss) => {
          const now = performance.now();
          if (standsBack && this.#places.get(process) === place) this.#laneFrom[place] = now + SLOW_PAUSE_MS;
          this.#places.delete(process);
          // Replaces a killed process at once; after failed starts the pause doubles.
          if (!loss.wasReady) this.#startFrom = now + Math.min(MAX_PAUSE_MS, 100 * 2 ** (this.#starts.failed += 1));
          this.#fill(now);
          for (const { product } of [...loss.blame, ...loss.rest]) release(product);
          this.#events.lost(loss);
        },
      },
    );
    this.#places.set(process, place);
  }

  /** Puts the spare process, if it is up, into another place; the next `fill` starts a new spare. */
  #putSpare(place: 'fast' | 'aside'): DecoderProcess | null {
    const [spare] = this.#readySpares();
    if (spare === undefined || this.#in('aside').length >= MAX_ASIDE) return null;
    this.#places.set(spare, place);
    return spare;
  }

  /** Replaces a process of the fast lane by the spare; returns false if that is not up. */
  #replace(process: DecoderProcess): boolean {
    if (this.#putSpare('fast') === null) return false;
    this.#places.set(process, 'aside');
    this.#settle(process);
    return true;
  }

  #readySpares(): DecoderProcess[] {
    return this.#in('spare').filter((process) => process.isReady && process.hasRoom());
  }

  /**
   * Ends a process aside that is done, or makes it the spare if there is none. It does not wait for a starting one, or
   * many suspects would each wait for a start.
   */
  #settle(process: DecoderProcess): void {
    if (this.#places.get(process) !== 'aside' || process.load > 0) return;
    if (this.#readySpares().length > 0 || this.#isWorn(process)) this.#end(process);
    else this.#places.set(process, 'spare');
  }

  /** Ends the process after the jobs it has begun. */
  #end(process: DecoderProcess): void {
    this.#places.set(process, 'ending');
    void process.retire();
  }

  #isWorn(process: DecoderProcess): boolean {
    return (
      process.runs > (this.#options.recycleRuns ?? RECYCLE_RUNS) ||
      process.rssMb() > MAX_IDLE_RSS_MB + this.#options.memoryMb
    );
  }
}

import { DecoderProcess, type Loss } from './decoder-process.ts';
import { NOT_BEGUN } from './frames.ts';
import { hold, isSlow, release, START_MS } from './penalties.ts';
import type { Lane, PoolJob } from './pool-job.ts';

/** How many processes there are, and what one run in them may take (CONTRACT 2, 5). */
export interface RosterOptions {
  /** Of the fast lane; others come and go beside them. */
  processes: number;
  /** Processor time of one run. */
  timeoutMs: number;
  /** Memory of one product's isolate. */
  memoryMb: number;
  /** After so many runs a process is replaced; 500,000 by default. */
  recycleRuns?: number;
  /** The program of the processes, decoder.worker by default; a test may put a liar there. */
  worker?: string | undefined;
}

interface RosterEvents {
  /** There is room where there was none. */
  room(): void;
  /** `keptMs`: wall time for which it has kept the process, with all that was made ready for it. */
  result(job: PoolJob, durationMs: number, keptMs: number, text: string): void;
  lost(loss: Loss): void;
}

/**
 * Where a process stands. `spare`: up, or coming up, so that a kill, a recycling or a suspect costs nobody a start; `fast`
 * once one is missing or goes aside; `slow`, `barred`: serves that lane until nobody needs it; `aside`: what it has begun
 * takes long, or is a suspect, or it has grown old; it is then the spare one or `ending`. Any of them may be killed.
 */
type Place = Lane | 'spare' | 'aside' | 'ending';

const FAST_WINDOW = 32;
/** A run that takes longer while others wait goes on aside. */
const ASIDE_MS = 25;
const MAX_ASIDE = 8;
/** With a full set of isolates, some 5 MB each. */
const MAX_IDLE_RSS_MB = 500;
const RECYCLE_RUNS = 500_000;
const RECYCLE_EVERY_MS = 1_000;
const SLOW_IDLE_MS = 60_000;
/** Of the process of the slow, or of the barred; and while it starts, which must come to an end on a busy machine. */
const SLOW_PRIORITY = 10;
const STARTING_PRIORITY = 5;
/** Starting processes costs everybody time, so those who use them up wait for each. */
const SLOW_PAUSE_MS = 400;
const MAX_PAUSE_MS = 5_000;

/** The decoder processes: which there are, where each stands, and when one is started or ended. */
export class ProcessPool {
  readonly #options: RosterOptions;
  readonly #events: RosterEvents;
  readonly #places = new Map<DecoderProcess, Place>();
  #failedStarts = 0;
  /** No process is started before then; none of such a lane before its own time. */
  #startFrom = 0;
  readonly #laneFrom = { slow: 0, barred: 0 };
  #recycleAt = 0;
  /** No job has come yet: where no webhook is used, no memory is taken by a process that would cover for another. */
  #isUnused = true;
  /** Nothing is started any more. */
  isStopping = false;

  constructor(options: RosterOptions, events: RosterEvents) {
    this.#options = options;
    this.#events = events;
    this.#fill(performance.now());
  }

  /** A process of the fast lane has answered. */
  get isUp(): boolean {
    return this.#in('fast').some((process) => process.isReady);
  }

  /**
   * Where the job whose turn it is in a lane can run, null: nowhere now. Slow ones have one process that stands back behind
   * everybody, started when there is none, and so have those that are barred; suspects, most of which are innocent, one of
   * normal priority to themselves.
   */
  processFor(lane: Lane, { isSuspect }: PoolJob, now: number): DecoderProcess | null {
    if (this.#isUnused) {
      this.#isUnused = false;
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

  /** Kills what is over its limits; to be called every few milliseconds. */
  watch(now: number): void {
    for (const process of this.#places.keys()) process.watch(now);
  }

  /**
   * Others wait for a long run: the spare process takes its process's place, and it goes on aside, whoever it is. It may
   * be a decoder that is just slow, or one that the machine did not let run: nothing is held against its product, which
   * only has to wait for its end.
   */
  setAside(now: number): void {
    for (const process of this.#in('fast')) {
      if (process.busyMs(now) <= ASIDE_MS || !this.#replace(process)) continue;
      if (process.runningJob !== null) hold(process.runningJob.product);
    }
  }

  /**
   * Others stand behind a long run within its process, where they were sent because its source had been quick: the spare
   * one takes its place, and them. It has done so already where others waited before it was known that the run computes.
   */
  letGo(now: number): PoolJob[] {
    return [...this.#in('aside'), ...this.#in('fast')].flatMap((process) => {
      if (!process.holdsUp(now)) return [];
      if (this.#places.get(process) === 'fast' && this.#putSpare('fast') === null) return [];
      this.#places.set(process, 'ending');
      return process.letGo(START_MS);
    });
  }

  /** Starts what is missing, and now and then replaces what has grown or grown old; to be called every few milliseconds. */
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

  /** Starts what is missing, unless starts have failed lately: the fast lane's, then a spare one when these are up and used. */
  #fill(now: number): void {
    if (this.isStopping) return;
    while (this.#in('fast').length < Math.max(1, this.#options.processes)) {
      const spare = this.#readySpares()[0] ?? this.#in('spare')[0];
      if (spare !== undefined) this.#places.set(spare, 'fast');
      else if (now >= this.#startFrom) this.#start('fast');
      else return;
    }
    if (this.#isUnused || this.#in('spare').length > 0 || now < this.#startFrom) return;
    if (this.#in('fast').every((process) => process.isReady)) this.#start('spare');
  }

  #start(place: Lane | 'spare'): void {
    const standsBack = place === 'slow' || place === 'barred';
    const serves = standsBack ? { window: 1, priority: STARTING_PRIORITY } : { window: FAST_WINDOW, priority: 0 };
    const process: DecoderProcess = new DecoderProcess(
      { ...this.#options, ...serves },
      {
        ready: () => {
          this.#failedStarts = 0;
          if (standsBack) process.standBack(SLOW_PRIORITY);
          this.#fill(performance.now());
          this.#events.room();
        },
        result: (job, { durationMs, wallMs, usedMs, keptMs }, text) => {
          job.wallMs += wallMs;
          job.usedMs += usedMs;
          // What has not begun may be all that a process had when it went aside, which its product waits for then.
          if (text !== NOT_BEGUN || process.load === 0) release(job.product);
          this.#events.result(job, durationMs, keptMs, text);
          // What a product that has become slow still has in a process beside others would hold these up.
          if (isSlow(job.product, performance.now()) && process.carriesOthers(job)) process.kill('GIVEN_BACK');
          this.#settle(process);
          this.#events.room();
        },
        gone: (loss) => {
          const now = performance.now();
          if (standsBack && this.#places.get(process) === place) this.#laneFrom[place] = now + SLOW_PAUSE_MS;
          this.#places.delete(process);
          // A kill is made good at once; what does not even start is tried ever later.
          if (!loss.wasReady) this.#startFrom = now + Math.min(MAX_PAUSE_MS, 100 * 2 ** (this.#failedStarts += 1));
          this.#fill(now);
          for (const { product } of [...loss.blame, ...loss.rest]) release(product);
          this.#events.lost(loss);
        },
      },
    );
    this.#places.set(process, place);
  }

  /** The spare process, if it is up, in another place; the next `fill` starts another. */
  #putSpare(place: 'fast' | 'aside'): DecoderProcess | null {
    const [spare] = this.#readySpares();
    if (spare === undefined || this.#in('aside').length >= MAX_ASIDE) return null;
    this.#places.set(spare, place);
    return spare;
  }

  /** The spare process takes the place of one of the fast lane; false when it is not up. */
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
   * Aside and done with what it had begun. One that is still coming up is not waited for: of thirty suspects, all but one
   * innocent, each would wait for a start.
   */
  #settle(process: DecoderProcess): void {
    if (this.#places.get(process) !== 'aside' || process.load > 0) return;
    if (this.#readySpares().length > 0 || this.#isWorn(process)) this.#end(process);
    else this.#places.set(process, 'spare');
  }

  /** After what it has begun; it gets nothing more. */
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

import type {
  DecoderEngine,
  DecoderFailure,
  DecoderJob,
  DecoderResult,
  DecoderStatistics,
} from '../domain/decoders/decoder-engine.ts';
import { AppError } from '../errors.ts';
import { noteEnded, noteRun, runsApart } from './penalties.ts';
import { DecoderProcess, MAX_ROUNDS } from './decoder-process.ts';
import { FairQueue } from './fair-queue.ts';
import type { PoolJob, PoolProduct, PoolSource } from './pool-job.ts';
import { LookedUp, readAskedIds } from './looked-up.ts';
import { failed, memoryMessage, readResult, timeoutMessage } from './run-result.ts';
import { RunStatistics } from './run-statistics.ts';
import { SerialsCache, type SerialsText } from './serials-cache.ts';
import { readTraits } from './source-traits.ts';

export interface DecoderPoolOptions {
  /** Processes for the products that behave; one more, of low priority, is started for the others when there are any. */
  processes: number;
  /** Execution time of one run. */
  timeoutMs: number;
  /** Memory of one product's isolate. */
  memoryMb: number;
  /** Jobs that may wait, all products together; one product may have a quarter of them. 2,000 by default. */
  maxWaiting?: number;
  /** The program of the processes, decoder.worker by default; a test may put a liar there. */
  worker?: string;
  log?: (level: 'info' | 'warn', message: string, facts: Record<string, unknown>) => void;
}

const MAX_SOURCE_BYTES = 262_144;
const MAX_WAIT_MS = 10_000;
const WATCH_MS = 20;
/** A run that takes longer while others wait goes on aside. */
const ASIDE_MS = 25;
/**
 * A run that had to be ended has had a processor to itself for its whole time; if the server is busy, its product leaves
 * it to the others for twice as long. Beside endless loops they keep 0.95 of their throughput with it, 0.8 without.
 */
const REST_MS = 500;
/** Part of the time that this thread is at work. */
const BUSY_FROM = 0.2;
const STOP_MS = 5_000;
/** With a full set of isolates, some 5 MB each. */
const MAX_IDLE_RSS_MB = 500;
const RECYCLE_RUNS = 500_000;
const APART_IDLE_MS = 60_000;
/** For offenders; and for their processes while these start, which must come to an end on a busy machine. */
const APART_PRIORITY = 15;
const WAITING_PRIORITY = 5;
const APART_PAUSE_MS = 400;
const MAIN_WINDOW = 32;
const KEPT_SOURCES = 1_000;
const KEPT_PRODUCTS = 5_000;
const CHECKS = '\0checks';

/** Runs decoders in processes of their own (CONTRACT 5, DESIGN decision 4). Starts with its construction. */
export class DecoderPool implements DecoderEngine {
  #options: DecoderPoolOptions;
  #maxWaiting: number;
  #main = new FairQueue();
  #apart = new FairQueue();
  /** Of products that rest, or whose run goes on aside: in the main line the next ones could be as long. */
  #parked = new FairQueue();
  /** Jobs that may have ended a process; they go first, one at a time, apart from the others. */
  #suspects: PoolJob[] = [];
  #processes: (DecoderProcess | null)[] = [];
  /** Each at one long run, after which it is the spare one. */
  #aside = new Set<DecoderProcess>();
  #apartProcess: DecoderProcess | null = null;
  #apartUsedAt = 0;
  #apartFrom = 0;
  /** Up and waiting, so that a kill or a recycling costs nobody anything. */
  #spare: DecoderProcess | null = null;
  #failedApart = false;
  /** The time to finish is over: whatever comes back now is refused. */
  #forced = false;
  #failedStarts = 0;
  #products = new Map<string, PoolProduct>();
  #sources = new Map<string, PoolSource>();
  #serials = new SerialsCache();
  #statistics = new RunStatistics();
  #numbers = 0;
  #open = 0;
  #stopping: Promise<void> | null = null;
  #drained: (() => void) | null = null;
  #timer: NodeJS.Timeout;
  #ticks = 0;
  #lastTick = performance.now();
  #utilization = performance.eventLoopUtilization();
  #busy = false;
  #dispatching = false;

  constructor(options: DecoderPoolOptions) {
    this.#options = options;
    this.#maxWaiting = options.maxWaiting ?? 2_000;
    for (let i = 0; i < Math.max(1, options.processes); i += 1) {
      this.#processes.push(null);
      this.#startMain(i);
    }
    this.#timer = setInterval(() => this.#tick(), WATCH_MS);
    this.#timer.unref();
  }

  ready(): boolean {
    return this.#stopping === null && this.#processes.some((process) => process?.isReady === true);
  }

  statistics(productId: string): DecoderStatistics {
    return this.#statistics.of(productId);
  }

  async check(source: string): Promise<DecoderFailure | null> {
    const tooLarge = sizeFailure(source);
    if (tooLarge !== null) return tooLarge;
    const result = await this.#enter(CHECKS, source, null, null, new LookedUp(null));
    return result.error;
  }

  async run(job: DecoderJob): Promise<DecoderResult> {
    const tooLarge = sizeFailure(job.source);
    if (tooLarge !== null) {
      this.#statistics.record(job.productId, 0, tooLarge.kind);
      return { output: null, console: [], error: tooLarge, durationMs: 0 };
    }
    const source = this.#sourceOf(job.source);
    if (!source.traits.usesLookups) return this.#enter(job.productId, job.source, job, null, new LookedUp(null));
    const { serials, lookedUp, tooMuch } = await this.#prepared(job);
    if (tooMuch === null) return this.#enter(job.productId, job.source, job, serials, lookedUp);
    this.#statistics.record(job.productId, 0, 'OUT_OF_MEMORY');
    return failed('OUT_OF_MEMORY', tooMuch, 0);
  }

  /** What a run needs that can touch look-ups; `tooMuch` says which limit it would pass. */
  async #prepared(job: DecoderJob): Promise<{ serials: SerialsText; lookedUp: LookedUp; tooMuch: string | null }> {
    try {
      const serials = await this.#serials.of(job.productId, job.serials);
      const lookedUp = new LookedUp(job.senderId);
      let tooMuch = job.source.includes('deviceSerialToId') ? serials.tooLarge : null;
      if (job.senderId !== null) tooMuch ??= await lookedUp.add([job.senderId], job.lookUp);
      return { serials, lookedUp, tooMuch };
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Lets what has been accepted finish, for a few seconds at most, then ends the processes. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (this.#open > 0) {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        new Promise<void>((resolve) => (this.#drained = resolve)),
        new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_MS))),
      ]);
      clearTimeout(timer);
    }
    clearInterval(this.#timer);
    this.#forced = true;
    const all = this.#everyProcess();
    for (const process of all) if (process.load > 0) process.kill('ENDED');
    for (const job of [...this.#suspects, ...this.#lines().flatMap((line) => line.takeOlderThan(Infinity))]) {
      this.#refuse(job, stoppingError());
    }
    await Promise.all(all.map((process) => process.retire()));
  }

  #enter(
    productId: string,
    text: string,
    job: DecoderJob | null,
    serials: SerialsText | null,
    lookedUp: LookedUp,
  ): Promise<DecoderResult> {
    if (this.#stopping !== null) return Promise.reject(stoppingError());
    const product = this.#productOf(productId);
    const waiting = this.#lines().reduce((sum, line) => sum + line.size, this.#suspects.length);
    if (waiting >= this.#maxWaiting) return Promise.reject(overloaded('Too many calls are waiting for a decoder'));
    if (product.waiting >= Math.max(1, this.#maxWaiting / 4)) {
      return Promise.reject(overloaded("Too many calls are waiting for this product's decoder"));
    }
    const source = this.#sourceOf(text);
    return new Promise((resolve, reject) => {
      this.#open += 1;
      this.#queue({
        id: this.#nextNumber(),
        product,
        source,
        job,
        serials,
        inputBytes: Buffer.byteLength(job?.input ?? text),
        queuedAt: performance.now(),
        spentMs: 0,
        round: 0,
        lookedUp,
        suspect: false,
        resolve,
        reject,
      });
    });
  }

  #queue(job: PoolJob, first = false): void {
    job.product.waiting += 1;
    const line = this.#lineOf(job.product);
    if (job.suspect) this.#suspects.push(job);
    else if (first) line.pushFirst(job);
    else line.push(job);
    this.#dispatchSoon();
  }

  #lineOf(product: PoolProduct): FairQueue {
    const now = performance.now();
    if (product.onTrial || now < product.restsUntil) return this.#parked;
    return runsApart(product, now) ? this.#apart : this.#main;
  }

  #lines(): FairQueue[] {
    return [this.#main, this.#apart, this.#parked];
  }

  /** Once for all calls that came in together. */
  #dispatchSoon(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    queueMicrotask(() => {
      this.#dispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    for (;;) {
      const process = this.#roomiest();
      const job = process === null ? undefined : this.#main.next();
      if (process === null || job === undefined) break;
      this.#send(process, job);
    }
    if (this.#suspects.length + this.#apart.size === 0) return;
    if (this.#apartProcess === null && performance.now() >= this.#apartFrom) this.#startApart();
    while (this.#apartProcess?.hasRoom() === true) {
      const suspect = this.#suspects[0];
      // Most suspects are innocent: on a busy machine a process of low priority would time them out.
      if (suspect !== undefined && this.#apartProcess.isLow) {
        void this.#apartProcess.retire();
        this.#startApart();
        continue;
      }
      const job = this.#suspects.shift() ?? this.#apart.next();
      if (job === undefined) break;
      this.#apartUsedAt = performance.now();
      if (suspect === undefined) this.#apartProcess.become({ window: 1, priority: APART_PRIORITY });
      this.#send(this.#apartProcess, job);
    }
  }

  #send(process: DecoderProcess, job: PoolJob): void {
    job.product.waiting -= 1;
    process.send(job);
  }

  #roomiest(): DecoderProcess | null {
    let best: DecoderProcess | null = null;
    for (const process of this.#processes) {
      if (process?.hasRoom() === true && (best === null || process.load < best.load)) best = process;
    }
    return best;
  }

  #startMain(index: number): void {
    this.#processes[index] = this.#start(MAIN_WINDOW, 0);
  }

  #startSpare(): void {
    if (this.#spare === null && !this.#forced && this.#stopping === null) this.#spare = this.#start(MAIN_WINDOW, 0);
  }

  /** The spare one if it is up; another takes its place. */
  #takeSpare(): DecoderProcess | null {
    const spare = this.#spare;
    if (spare === null || !spare.isReady) return null;
    this.#spare = null;
    setImmediate(() => this.#startSpare());
    return spare;
  }

  #startApart(): void {
    // A first offender gets the spare process; one that kills its processes waits for new ones of low priority.
    const spare = this.#failedApart ? null : this.#takeSpare();
    // Among suspects all but one are innocent: they do not wait for a process of low priority to start.
    this.#apartProcess = spare ?? this.#start(1, this.#suspects.length > 0 ? 0 : WAITING_PRIORITY);
    spare?.become({ window: 1, priority: 0 });
    this.#failedApart = false;
    this.#apartUsedAt = performance.now();
  }

  #start(window: number, priority: number): DecoderProcess {
    const { timeoutMs, memoryMb, worker } = this.#options;
    const process: DecoderProcess = new DecoderProcess(
      { timeoutMs, memoryMb, window, priority, worker },
      {
        ready: () => {
          this.#failedStarts = 0;
          if (this.#processes.every((main) => main?.isReady === true)) this.#startSpare();
          this.#dispatchSoon();
        },
        result: (job, durationMs, text) => {
          this.#finished(job, durationMs, text);
          // The product has to move; what it still has in this process would hold up the others.
          const moves = process !== this.#apartProcess && runsApart(job.product, performance.now());
          if (moves && process.carries(job.product)) process.giveBack();
          else if (process.load === 0 && this.#aside.delete(process)) {
            if (this.#spare === null) this.#spare = process;
            else void process.retire();
          }
          this.#endTrial(job.product);
        },
        gone: (reason, blame, rest, wasReady) => {
          if (!wasReady) this.#failedStarts += 1;
          if ((blame.length > 0 || !wasReady) && this.#stopping === null) {
            const products = blame.map((job) => job.product.id);
            this.#options.log?.('warn', 'decoder process ended', { reason, products, wasReady });
          }
          this.#replace(process);
          this.#blame(reason, blame);
          for (const job of [...blame, ...rest]) this.#endTrial(job.product);
          for (const job of rest.reverse()) {
            if (this.#forced) this.#refuse(job, stoppingError());
            else this.#queue(job, true);
          }
        },
      },
    );
    return process;
  }

  #replace(process: DecoderProcess): void {
    const index = this.#processes.indexOf(process);
    if (index >= 0) {
      this.#processes[index] = this.#takeSpare();
      if (this.#processes[index] === null) this.#again(() => this.#startMain(index));
    } else if (process === this.#apartProcess) {
      this.#apartProcess = null;
      this.#failedApart = true;
      // Starting processes costs everybody time, so those who use them up wait for each.
      this.#apartFrom = performance.now() + APART_PAUSE_MS;
    } else if (process === this.#spare || this.#aside.delete(process)) {
      if (process === this.#spare) this.#spare = null;
      this.#again(() => this.#startSpare());
    }
  }

  /**
   * Others wait for a long run: the spare process takes its process's place, and it goes on aside, whoever it is. It may
   * be a decoder that is just slow, or one that the machine did not let run, so nothing is held against it.
   */
  #setAside(index: number, process: DecoderProcess): void {
    const spare = this.#spare;
    if (spare === null || !spare.isReady) return;
    this.#spare = null;
    this.#processes[index] = spare;
    this.#aside.add(process);
    const product = process.runningProduct;
    if (product !== null) {
      product.onTrial = true;
      this.#moveWaiting(product);
    }
    this.#dispatchSoon();
  }

  #endTrial(product: PoolProduct): void {
    if (!product.onTrial) return;
    product.onTrial = false;
    this.#moveWaiting(product);
  }

  #rest(product: PoolProduct, now: number): void {
    if (!this.#busy) return;
    product.restsUntil = now + REST_MS;
    setTimeout(() => this.#moveWaiting(product), REST_MS + 2).unref();
  }

  /** What the product has waiting, to the line where it belongs now. */
  #moveWaiting(product: PoolProduct): void {
    const to = this.#lineOf(product);
    for (const line of this.#lines()) if (line !== to) for (const job of line.take(product)) to.push(job);
    this.#dispatchSoon();
  }

  /** At once after a kill; ever later when processes do not even start. */
  #again(start: () => void): void {
    const wanted = (): boolean => !this.#forced && (this.#stopping === null || this.#open > 0);
    if (!wanted()) return;
    if (this.#failedStarts === 0) start();
    else setTimeout(() => wanted() && start(), Math.min(5_000, 100 * 2 ** this.#failedStarts)).unref();
  }

  #blame(reason: 'TIMEOUT' | 'OUT_OF_MEMORY' | 'ENDED', jobs: PoolJob[]): void {
    const { timeoutMs, memoryMb } = this.#options;
    if (this.#forced) {
      for (const job of jobs) this.#refuse(job, stoppingError());
      return;
    }
    if (jobs.length > 1) {
      for (const job of jobs) {
        job.suspect = true;
        this.#queue(job);
      }
      return;
    }
    const job = jobs[0];
    if (job === undefined) return;
    if (job.job === null) {
      const message = 'The source takes too much time or memory to be parsed.';
      this.#finish(job, failed('SYNTAX', message, 0));
    } else if (reason === 'TIMEOUT') {
      this.#finish(job, failed('TIMEOUT', timeoutMessage(timeoutMs), timeoutMs));
    } else {
      this.#finish(job, failed('OUT_OF_MEMORY', memoryMessage(memoryMb), job.spentMs));
    }
  }

  #finished(job: PoolJob, durationMs: number, text: string): void {
    const { timeoutMs } = this.#options;
    const spentMs = job.spentMs + durationMs;
    const asked = job.job !== null && job.round < MAX_ROUNDS ? readAskedIds(text) : null;
    // Several rounds add up.
    if (spentMs > timeoutMs * 2) this.#finish(job, failed('TIMEOUT', timeoutMessage(timeoutMs), spentMs));
    else if (asked !== null) void this.#nextRound(job, spentMs, asked);
    else this.#finish(job, readResult(text, job.source.text, spentMs));
    this.#dispatchSoon();
  }

  /** The decoder asked for last values that it had not been given: the run is repeated with them. */
  async #nextRound(job: PoolJob, spentMs: number, asked: string[]): Promise<void> {
    try {
      const tooMuch = await job.lookedUp.add(asked, job.job!.lookUp);
      if (tooMuch !== null) {
        this.#finish(job, failed('OUT_OF_MEMORY', tooMuch, spentMs), false);
        return;
      }
      job.spentMs = spentMs;
      job.round += 1;
      this.#queue(job, true);
    } catch (error) {
      this.#refuse(job, unavailable(error));
    }
  }

  #finish(job: PoolJob, result: DecoderResult, isOffence = true): void {
    const now = performance.now();
    const kind = result.error?.kind ?? null;
    const ended = isOffence && (kind === 'TIMEOUT' || kind === 'OUT_OF_MEMORY');
    if (job.job !== null) {
      this.#statistics.record(job.product.id, result.durationMs, kind);
      noteRun(job.product, result.durationMs, now);
      if (ended || result.durationMs > 5) job.source.trust = 0;
      else job.source.trust += 1;
      if (ended) {
        noteEnded(job.product, now);
        this.#rest(job.product, now);
        this.#moveWaiting(job.product);
      }
    }
    this.#close();
    job.resolve(result);
  }

  #refuse(job: PoolJob, error: AppError): void {
    this.#close();
    job.reject(error);
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#drained?.();
  }

  #everyProcess(): DecoderProcess[] {
    return [...this.#processes, ...this.#aside, this.#apartProcess, this.#spare].filter((process) => process !== null);
  }

  #tick(): void {
    const now = performance.now();
    const late = now - this.#lastTick > WATCH_MS + 50;
    this.#lastTick = now;
    this.#ticks += 1;
    // When this process was held up, results may lie unread: they come before any verdict.
    if (!late) {
      for (const process of this.#everyProcess()) process.watch(now);
      if (this.#main.size > 0) {
        for (const [index, process] of this.#processes.entries())
          if (process !== null && process.busyMs(now) > ASIDE_MS) this.#setAside(index, process);
      }
    }
    // Those who wait for the pause after a kill: nobody else may call in the meantime.
    if (this.#suspects.length + this.#apart.size > 0) this.#dispatchSoon();
    if (this.#ticks % 10 !== 0) return;
    const utilization = performance.eventLoopUtilization();
    this.#busy = performance.eventLoopUtilization(utilization, this.#utilization).utilization > BUSY_FROM;
    this.#utilization = utilization;
    for (const queue of this.#lines()) {
      for (const job of queue.takeOlderThan(now - MAX_WAIT_MS)) {
        job.product.waiting -= 1;
        this.#refuse(job, overloaded('The call has waited too long for a decoder process'));
      }
    }
    if (this.#ticks % 50 === 0) this.#recycle(now);
  }

  /** Replaces processes that have grown or grown old; the new one is up before the old one goes. */
  #recycle(now: number): void {
    const apart = this.#apartProcess;
    const maxRssMb = MAX_IDLE_RSS_MB + this.#options.memoryMb;
    if (apart !== null && apart.isReady && apart.load === 0) {
      if (now - this.#apartUsedAt > APART_IDLE_MS || apart.rssMb() > maxRssMb) {
        this.#apartProcess = null;
        void apart.retire();
      }
    }
    if (this.#stopping !== null) return;
    const index = this.#processes.findIndex(
      (main) => main?.isReady === true && (main.runs > RECYCLE_RUNS || main.rssMb() > maxRssMb),
    );
    const old = this.#processes[index];
    if (old === undefined || old === null) return;
    const spare = this.#takeSpare();
    if (spare === null) return;
    this.#processes[index] = spare;
    void old.retire();
  }

  #productOf(id: string): PoolProduct {
    let product = this.#products.get(id);
    if (product === undefined) {
      product = {
        id,
        no: this.#nextNumber(),
        averageMs: 0,
        apartUntil: 0,
        strikes: 0,
        waiting: 0,
        onTrial: false,
        restsUntil: 0,
      };
      forgetOldest(this.#products, KEPT_PRODUCTS, (old) => old.waiting === 0);
      this.#products.set(id, product);
    }
    return product;
  }

  #sourceOf(text: string): PoolSource {
    let source = this.#sources.get(text);
    if (source === undefined) {
      source = { no: this.#nextNumber(), text, traits: readTraits(text), trust: 0 };
      forgetOldest(this.#sources, KEPT_SOURCES, () => true);
      this.#sources.set(text, source);
    }
    return source;
  }

  /** Fits 32 bits for as long as any job can wait. */
  #nextNumber(): number {
    this.#numbers = (this.#numbers + 1) >>> 0;
    return this.#numbers;
  }
}

function forgetOldest<V>(map: Map<string, V>, limit: number, mayGo: (value: V) => boolean): void {
  if (map.size < limit) return;
  for (const [key, value] of map) {
    if (!mayGo(value)) continue;
    map.delete(key);
    return;
  }
}

function sizeFailure(source: string): DecoderFailure | null {
  const bytes = Buffer.byteLength(source);
  if (bytes <= MAX_SOURCE_BYTES) return null;
  const message = `The source has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES} (256 KiB).`;
  return { kind: 'SYNTAX', message, line: null, column: null };
}

const stoppingError = (): AppError => new AppError('UNAVAILABLE', 'The server is stopping.');

const overloaded = (what: string): AppError => new AppError('OVERLOADED', `${what}; try again later.`);

const unavailable = (cause: unknown): AppError =>
  cause instanceof AppError
    ? cause
    : new AppError('UNAVAILABLE', 'The data that the decoder asked for is not available now.', { cause });

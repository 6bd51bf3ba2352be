import type {
  DecoderEngine,
  DecoderFailure,
  DecoderJob,
  DecoderResult,
  DecoderStatistics,
} from '../domain/decoders/decoder-engine.ts';
import { AppError } from '../errors.ts';
import { type DecoderProcess, type Loss, MAX_ROUNDS } from './decoder-process.ts';
import { FairQueue } from './fair-queue.ts';
import { JobIntake } from './job-intake.ts';
import { readAskedIds } from './looked-up.ts';
import { isSlow, noteOffence, noteRun, type PoolProduct } from './penalties.ts';
import type { PoolJob } from './pool-job.ts';
import { ProcessRoster } from './process-roster.ts';
import { failed, memoryMessage, readResult, timeoutMessage } from './run-result.ts';
import { RunStatistics } from './run-statistics.ts';
import { ServerLoad } from './server-load.ts';

/** How many processes, and what one run may take (CONTRACT 2, 5). */
export interface DecoderPoolOptions {
  /** Processes of the fast lane; one more, of low priority, is started for the slow lane when it is needed. */
  processes: number;
  /** Processor time of one run. */
  timeoutMs: number;
  /** Memory of one product's isolate. */
  memoryMb: number;
  /** Jobs that may wait, all products together; one product may have a quarter of them. 2,000 by default. */
  maxWaiting?: number;
  /** The program of the processes, decoder.worker by default; a test may put a liar there. */
  worker?: string;
  log?: (level: 'info' | 'warn' | 'error', message: string, facts: Record<string, unknown>) => void;
}

const MAX_WAIT_MS = 10_000;
const TICK_MS = 20;
const STOP_MS = 5_000;
/** A run longer than this is not that of a quick source. */
const QUICK_MS = 5;

/**
 * Runs decoders in processes of their own (CONTRACT 5). Jobs wait in one fair queue for one of two
 * lanes. Starts with its construction.
 */
export class DecoderPool implements DecoderEngine {
  readonly #options: DecoderPoolOptions;
  readonly #intake: JobIntake;
  readonly #queue = new FairQueue();
  readonly #roster: ProcessRoster;
  readonly #statistics = new RunStatistics();
  readonly #load = new ServerLoad(TICK_MS);
  readonly #timer: NodeJS.Timeout;
  #open = 0;
  #stopping: Promise<void> | null = null;
  /** The time to finish is over: whatever comes back now is refused. */
  #forced = false;
  #drained: (() => void) | null = null;
  #dispatching = false;

  constructor(options: DecoderPoolOptions) {
    this.#options = options;
    this.#intake = new JobIntake(options.maxWaiting ?? 2_000);
    const replaces = (): boolean => !this.#forced && (this.#stopping === null || this.#open > 0);
    this.#roster = new ProcessRoster(options, replaces, {
      room: () => this.#dispatchSoon(),
      result: (process, job, durationMs, text) => this.#answered(process, job, durationMs, text),
      lost: (loss) => this.#guarded(() => this.#lost(loss)),
    });
    this.#timer = setInterval(() => this.#guarded(() => this.#tick()), TICK_MS);
    this.#timer.unref();
  }

  /** Calls that wait for a process. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Resident memory of each process in bytes, by its place in the pool (`fast 0`, `slow`, …). */
  memory(): Record<string, number> {
    return this.#roster.memory();
  }

  ready(): boolean {
    return this.#stopping === null && this.#roster.isUp;
  }

  statistics(productId: string): DecoderStatistics {
    return this.#statistics.of(productId);
  }

  async check(source: string): Promise<DecoderFailure | null> {
    const tooLarge = this.#intake.sizeFailure(source);
    if (tooLarge !== null) return tooLarge;
    const result = await this.#accept((settle) => this.#intake.checkOf(source, settle));
    return result.error;
  }

  async run(job: DecoderJob): Promise<DecoderResult> {
    const tooLarge = this.#intake.sizeFailure(job.source);
    const prepared = tooLarge ?? (this.#intake.needsLookUps(job) ? await this.#intake.prepare(job) : null);
    if (prepared !== null && 'kind' in prepared) {
      this.#statistics.record(job.productId, 0, prepared.kind);
      return { output: null, console: [], error: prepared, durationMs: 0 };
    }
    return this.#accept((settle) => this.#intake.runOf(job, prepared, settle));
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
    for (const job of this.#queue.takeOlderThan(Infinity)) this.#refuse(job, stoppingError());
    await this.#roster.stop();
  }

  async #accept(make: (settle: Pick<PoolJob, 'resolve' | 'reject'>) => PoolJob): Promise<DecoderResult> {
    if (this.#stopping !== null) throw stoppingError();
    return new Promise((resolve, reject) => {
      const job = make({ resolve, reject });
      const refusal = this.#intake.refusalOf(job, this.#queue.size);
      if (refusal !== null) throw refusal;
      this.#open += 1;
      this.#queue.push(job);
      this.#dispatchSoon();
    });
  }

  /** Once for all calls that came in together. */
  #dispatchSoon(): void {
    if (this.#dispatching) return;
    this.#dispatching = true;
    queueMicrotask(() => {
      this.#dispatching = false;
      this.#guarded(() => this.#dispatch());
    });
  }

  #dispatch(): void {
    const now = performance.now();
    for (let process = this.#roster.fastWithRoom(); process !== null; process = this.#roster.fastWithRoom()) {
      const job = this.#queue.next('fast', now);
      if (job === undefined) break;
      this.#send(process, job);
    }
    for (let first = this.#queue.peek('slow', now); first !== undefined; first = this.#queue.peek('slow', now)) {
      const process = this.#roster.slowWithRoom(first.isSuspect, now);
      if (process === null) break;
      this.#send(process, this.#queue.next('slow', now)!);
    }
  }

  #send(process: DecoderProcess, job: PoolJob): void {
    try {
      process.send(job);
    } catch (error) {
      this.#refuse(job, error);
    }
  }

  #answered(process: DecoderProcess, job: PoolJob, durationMs: number, text: string): void {
    try {
      release(job.product);
      const spentMs = job.spentMs + durationMs;
      const asked = job.job !== null && job.round < MAX_ROUNDS ? readAskedIds(text) : null;
      // Several rounds add up.
      if (spentMs > this.#options.timeoutMs * 2) this.#timeOut(job, spentMs);
      else if (asked !== null) void this.#nextRound(job, spentMs, asked);
      else this.#finish(job, readResult(text, job.source.text, spentMs));
    } catch (error) {
      this.#refuse(job, error);
    }
    // What a product that has become slow still has in a process of the fast lane would hold up the others.
    if (this.#roster.isSlow(process) || !isSlow(job.product, performance.now())) return;
    if (process.carries(job.product)) process.giveBack();
  }

  /** The decoder asked for values that it had not been given: the run is repeated with them. */
  async #nextRound(job: PoolJob, spentMs: number, asked: string[]): Promise<void> {
    try {
      const tooMuch = await job.lookedUp.add(asked, job.job!.lookUp);
      if (tooMuch !== null) {
        this.#finish(job, failed('OUT_OF_MEMORY', tooMuch, spentMs), false);
        return;
      }
      job.spentMs = spentMs;
      job.round += 1;
      this.#again(job);
    } catch (error) {
      this.#refuse(job, this.#intake.unavailable(error));
    }
  }

  #lost({ reason, blame, rest, wasReady }: Loss): void {
    if ((blame.length > 0 || !wasReady) && this.#stopping === null) {
      const products = blame.map((job) => job.product.id);
      this.#options.log?.('warn', 'decoder process ended', { reason, products, wasReady });
    }
    for (const job of [...blame, ...rest]) release(job.product);
    for (const job of rest.toReversed()) this.#again(job);
    const [only] = blame;
    if (only === undefined) return;
    if (blame.length > 1 || (reason === 'KILLED' && !only.wasKilled)) {
      for (const job of blame) {
        job.isSuspect = true;
        job.wasKilled ||= blame.length === 1;
        this.#again(job);
      }
      return;
    }
    only.wallMs += this.#options.timeoutMs;
    if (this.#forced) this.#refuse(only, stoppingError());
    else if (only.job === null) {
      this.#finish(only, failed('SYNTAX', 'The source takes too much time or memory to be parsed.', 0));
    } else if (reason === 'TIMEOUT') this.#timeOut(only, this.#options.timeoutMs);
    else this.#finish(only, failed('OUT_OF_MEMORY', memoryMessage(this.#options.memoryMb), only.spentMs));
  }

  /** Runs a job that had begun, or might have: before the others of its product. */
  #again(job: PoolJob): void {
    if (this.#forced) this.#refuse(job, stoppingError());
    else {
      job.queuedAt = performance.now();
      this.#queue.pushFirst(job);
      this.#dispatchSoon();
    }
  }

  #timeOut(job: PoolJob, spentMs: number): void {
    this.#finish(job, failed('TIMEOUT', timeoutMessage(this.#options.timeoutMs), spentMs));
  }

  #finish(job: PoolJob, result: DecoderResult, mayOffend = true): void {
    const kind = result.error?.kind ?? null;
    const isOffence = mayOffend && (kind === 'TIMEOUT' || kind === 'OUT_OF_MEMORY');
    if (job.job !== null) {
      const now = performance.now();
      this.#statistics.record(job.product.id, result.durationMs, kind);
      noteRun(job.product, job.wallMs, now);
      if (isOffence) noteOffence(job.product, now, this.#load.isBusy);
      job.source.trust = isOffence || job.wallMs > QUICK_MS ? 0 : job.source.trust + 1;
    }
    this.#close();
    job.resolve(result);
  }

  #refuse(job: PoolJob, error: unknown): void {
    this.#close();
    job.reject(error);
  }

  #close(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#drained?.();
  }

  #tick(): void {
    const now = performance.now();
    // When this process was held up, results may lie unread: they come before any verdict.
    if (this.#load.tick(now)) {
      this.#roster.watch(now);
      if (this.#queue.peek('fast', now) !== undefined) {
        for (const job of this.#roster.setAside(now)) job.product.heldUntil = Infinity;
      }
    }
    for (const job of this.#queue.takeOlderThan(now - MAX_WAIT_MS)) {
      this.#refuse(
        job,
        new AppError('OVERLOADED', 'The call has waited too long for a decoder process; try again later.'),
      );
    }
    if (this.#stopping === null) this.#roster.recycle(now);
    // For those whose time has come without anybody else calling.
    if (this.#queue.size > 0) this.#dispatchSoon();
  }

  /** Nothing that goes wrong in a callback may end the server. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.log?.('error', 'decoder pool', { id: crypto.randomUUID(), error: String(error) });
    }
  }
}

/** The run that its product's others waited for has come to an end. */
function release(product: PoolProduct): void {
  if (product.heldUntil === Infinity) product.heldUntil = 0;
}

const stoppingError = (): AppError => new AppError('UNAVAILABLE', 'The server is stopping.');

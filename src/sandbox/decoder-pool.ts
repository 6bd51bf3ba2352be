import { setTimeout as sleep } from 'node:timers/promises';
import type {
  DecoderEngine,
  DecoderFailure,
  DecoderJob,
  DecoderResult,
  DecoderStatistics,
} from '../domain/decoders/decoder-engine.ts';
import { AppError } from '../errors.ts';
import { countsOf } from '../scheduling/lane-counts.ts';
import { LANES } from '../scheduling/lanes.ts';
import { type Loss, MAX_ROUNDS } from './decoder-process.ts';
import { FairQueue, DECODER_LANES } from './fair-queue.ts';
import { JobAdmission, type Settle } from './job-admission.ts';
import { overloaded } from './admission-limit.ts';
import { NOT_BEGUN, QUICK_MS } from './frames.ts';
import { readAskedIds } from './looked-up.ts';
import { guiltyOf, noteEnd, noteRound, START_MS } from './penalties.ts';
import type { PoolJob } from './pool-job.ts';
import { ProcessPool, type RosterOptions } from './process-pool.ts';
import { failed, lostResult, readResult, timedOut } from './run-result.ts';
import { RunStatistics } from './run-statistics.ts';
import { ServerLoad } from './server-load.ts';
import { must } from '../must.ts';

/** Number of processes and jobs, and limits of one run (CONTRACT 2, 5). */
export interface DecoderPoolOptions extends RosterOptions {
  /** Maximum open jobs of all workspaces (see `AdmissionLimit`); 2,000 by default. */
  maxWaiting?: number;
  /** Maximum wait of a job for a process in ms; that of its lane by default. Over all its repeats it is 30 s at least. */
  maxWaitMs?: number;
  log?: (level: 'info' | 'warn' | 'error', message: string, facts: Record<string, unknown>) => void;
}

const MAX_WAIT_MS = LANES.decoders.maxWaitMs;
/** Maximum wait of a job over all its repeats; its sender has given up by then. */
const MAX_WAIT_IN_ALL_MS = 30_000;
const TICK_MS = 20;
const STOP_MS = 5_000;

function waitsOf({ maxWaitMs = MAX_WAIT_MS }: DecoderPoolOptions): { maxWaitMs: number; maxWaitInAllMs: number } {
  return { maxWaitMs, maxWaitInAllMs: Math.max(maxWaitMs, MAX_WAIT_IN_ALL_MS) };
}

/**
 * Runs decoders in processes of their own (CONTRACT 5), which start with the first job, or with `begin`. `PoolJob`,
 * `PoolProduct` and `Place` tell how jobs, products and processes move.
 */
export class DecoderPool implements DecoderEngine {
  readonly #options: DecoderPoolOptions;
  readonly #intake: JobAdmission;
  readonly #queue = new FairQueue();
  readonly #roster: ProcessPool;
  readonly #statistics = new RunStatistics();
  readonly #load = new ServerLoad(TICK_MS);
  #open = 0;
  #stopping: Promise<void> | null = null;

  constructor(options: DecoderPoolOptions) {
    this.#options = options;
    this.#intake = new JobAdmission(options.maxWaiting ?? 2_000);
    this.#roster = new ProcessPool(options, {
      room: () => this.#dispatch(),
      result: (job, durationMs, keptMs, text) => {
        this.#queue.settle(job, keptMs, performance.now());
        // A job that runs alone cannot have been held up: the answer is a lie, and would be repeated.
        if (text === NOT_BEGUN && !job.isAlone) this.#notBegun(job);
        else this.#answered(job, durationMs, text);
      },
      lost: (loss) => this.#guarded(() => this.#lost(loss)),
    });
    this.#load.start((isInTime) => this.#guarded(() => this.#tick(isInTime)));
  }

  /** Starts processes before the first job comes. */
  begin(): void {
    this.#roster.begin();
  }

  /** Number of calls that wait for a process. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Resident memory of each process in bytes, by its place (`fast 0`, `slow 0`, …). */
  memory(): Record<string, number> {
    return this.#roster.memory();
  }

  ready(): boolean {
    return this.#stopping === null && this.#roster.isUp;
  }

  statistics(productId: string): DecoderStatistics {
    return this.#statistics.of(productId);
  }

  async check(source: string, workspaceId: string, tokenId = ''): Promise<DecoderFailure | null> {
    const tooLarge = this.#intake.sizeFailure(source);
    if (tooLarge !== null) return tooLarge;
    const admitted = this.#intake.admitCheck(source, workspaceId, tokenId);
    try {
      return (await this.#accept((settle) => this.#intake.checkOf(source, admitted, settle))).error;
    } finally {
      this.#intake.leave(admitted);
    }
  }

  async run(job: DecoderJob): Promise<DecoderResult> {
    const tooLarge = this.#intake.sizeFailure(job.source);
    if (tooLarge !== null) return this.#failedBefore(job, tooLarge);
    const admitted = this.#intake.admit(job);
    try {
      const prepared = this.#intake.needsLookUps(job) ? await this.#intake.prepare(job, admitted) : null;
      if (prepared !== null && 'kind' in prepared) return this.#failedBefore(job, prepared);
      return await this.#accept((settle) => this.#intake.runOf(job, admitted, prepared, settle));
    } finally {
      this.#intake.leave(admitted);
    }
  }

  #failedBefore({ productId }: DecoderJob, error: DecoderFailure): DecoderResult {
    this.#statistics.record(productId, 0, error.kind);
    return { ...failed(error.kind, error.message, 0), error };
  }

  /** Lets accepted jobs finish, for a few seconds at most, then ends the processes. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const end = performance.now() + STOP_MS;
    while (this.#open > 0 && performance.now() < end) await sleep(TICK_MS);
    this.#load.stop();
    // Jobs that its processes give back are refused.
    await this.#roster.stop();
    for (const job of this.#queue.takeOlderThan(Infinity)) this.#refuse(job, stoppingError());
  }

  #accept(make: (settle: Settle) => PoolJob): Promise<DecoderResult> {
    return new Promise((resolve, reject) => {
      if (this.#stopping !== null) throw stoppingError();
      this.#open += 1;
      this.#queue.push(make({ resolve, reject }), performance.now());
      this.#dispatch();
    });
  }

  #dispatch(): void {
    this.#guarded(() => {
      const now = performance.now();
      for (const lane of DECODER_LANES) {
        for (let job = this.#queue.peek(lane, now); job !== undefined; job = this.#queue.peek(lane, now)) {
          const process = this.#roster.processFor(lane, job, now);
          if (process === null) break;
          process.send(must(this.#queue.next(lane, now)));
        }
      }
    });
  }

  #answered(job: PoolJob, durationMs: number, text: string): void {
    try {
      job.spentMs += durationMs;
      if (job.wallMs > QUICK_MS) job.source.trust = 0;
      const asked = job.lookedUp !== null && job.round < MAX_ROUNDS ? readAskedIds(text) : null;
      // Rounds add up.
      if (job.spentMs > this.#options.timeoutMs * 2) this.#finish(job, timedOut(this.#options.timeoutMs, job.spentMs));
      else if (asked !== null) {
        noteRound(job, performance.now());
        void this.#nextRound(job, asked);
      } else this.#finish(job, readResult(text, job.source.lines, job.spentMs));
    } catch (error) {
      this.#refuse(job, error);
    }
  }

  #notBegun(job: PoolJob): void {
    job.source.trust = 0;
    this.#again(job);
  }

  /** Repeats the run with the values that the decoder asked for. */
  async #nextRound(job: PoolJob, asked: string[]): Promise<void> {
    try {
      const tooMuch = await this.#intake.lookUp(job, asked);
      if (tooMuch === null) this.#again(job);
      else this.#finish(job, failed('OUT_OF_MEMORY', tooMuch, job.spentMs), false);
    } catch (error) {
      this.#refuse(job, error);
    }
    this.#dispatch();
  }

  #lost(loss: Loss): void {
    const { reason, blame, rest, wasReady } = loss;
    if ((blame.length > 0 || !wasReady) && this.#stopping === null) {
      const facts = { reason, products: blame.map(({ product }) => product.id), wasReady };
      this.#options.log?.('warn', 'decoder process ended', facts);
    }
    const guilty = guiltyOf(loss);
    const now = performance.now();
    for (const job of [...blame, ...rest].toReversed()) {
      this.#queue.settle(job, job === guilty ? loss.busyMs + START_MS : 0, now);
      if (job === guilty) this.#finish(job, lostResult(job, reason, this.#options), true);
      else this.#again(job);
    }
    this.#dispatch();
  }

  /** Queues a job again, before the others of its product. */
  #again(job: PoolJob): void {
    if (this.#roster.isStopping) this.#refuse(job, stoppingError());
    else {
      const now = performance.now();
      const { maxWaitMs, maxWaitInAllMs } = waitsOf(this.#options);
      job.queuedAt = Math.min(now, job.acceptedAt + maxWaitInAllMs - maxWaitMs);
      this.#queue.pushFirst(job, now);
    }
  }

  #finish(job: PoolJob, result: DecoderResult, isOffence = isOver(result)): void {
    if (job.job !== null) this.#statistics.record(job.product.id, result.durationMs, result.error?.kind ?? null);
    noteEnd(job, isOffence, performance.now(), this.#load.isBusy);
    this.#open -= 1;
    job.resolve(result);
  }

  #refuse(job: PoolJob, error: unknown): void {
    this.#open -= 1;
    job.reject(error);
  }

  #tick(isInTime: boolean): void {
    const now = performance.now();
    // Late means this process was held up: read waiting results before any verdict.
    if (isInTime) {
      this.#roster.watch(now);
      for (const job of this.#roster.letGo(now).toReversed()) {
        this.#queue.settle(job, 0, now);
        this.#again(job);
      }
      if (this.#queue.peek('fast', now) !== undefined) this.#roster.setAside(now);
    }
    // A machine so busy that the first start takes long is no reason to refuse what has waited for it.
    const { maxWaitMs, maxWaitInAllMs } = waitsOf(this.#options);
    const oldest = now - (this.#roster.isNew(now, maxWaitMs) ? maxWaitInAllMs : maxWaitMs);
    for (const job of this.#queue.takeOlderThan(oldest)) {
      countsOf(LANES.decoders.name).refused += 1;
      this.#refuse(job, overloaded('The call has waited too long for a decoder process'));
    }
    this.#roster.maintain(now);
    // For jobs whose time has come.
    this.#dispatch();
  }

  /** Logs what goes wrong in a callback, so that it does not end the server. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.log?.('error', 'decoder pool', { id: crypto.randomUUID(), error: String(error) });
    }
  }
}

/** Whether the run had to be ended. */
const isOver = ({ error }: DecoderResult): boolean => error?.kind === 'TIMEOUT' || error?.kind === 'OUT_OF_MEMORY';

const stoppingError = (): AppError => new AppError('UNAVAILABLE', 'The server is stopping.');

import { Worker } from 'node:worker_threads';
import { AppError } from '../errors.ts';
import type { StoreLog } from './store-options.ts';
import type { Answer, Failure, Question } from './thread-messages.ts';

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Maximum milliseconds per question; a job in many steps says so. */
const ANSWER_MS = 8_000;

/** The worker of a thread, and its data. */
export interface ThreadOptions {
  /** Maximum late answers of a thread that does answer, as its jobs are in memory; left out: none. */
  mostOverdue?: number;
  /** Name in the log. */
  name: string;
  /** The worker's file, as `Worker` takes it. */
  file: string;
  workerData: object;
  log: StoreLog | undefined;
  /** Awaited before the thread is started again after it died. */
  beforeRestart?: () => Promise<void>;
  /** The thread has said something without being asked. */
  onNotice?: (notice: unknown) => void;
}

/**
 * A worker thread that answers questions. If it dies, its unanswered ones reject, and the next question starts a new
 * one. A question that is not answered in time rejects; where nothing else was answered meanwhile either, so does every
 * new one until something is: a disk that hangs must not fill the memory with questions. One that only waits its turn
 * among others is no sign of that.
 */
export class Thread<Job> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #answers = new AnswerWatch();
  #worker: Worker | null = null;
  #opening: Promise<void> | null = null;
  #nextId = 1;
  #stopped = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Rejects if the thread cannot do its first work. */
  start(): Promise<void> {
    return (this.#opening ??= this.#open().finally(() => (this.#opening = null)));
  }

  /** `limitMs`: longer limit of a job that is long by its nature; it does not count as a sign that the thread hangs. */
  async ask<T>(job: Job, transfer: ArrayBuffer[] = [], limitMs: number = ANSWER_MS): Promise<T> {
    if (this.#answers.areMissing(this.#options.mostOverdue ?? 1))
      throw new Error(`the ${this.#options.name} thread hangs`);
    if (!this.#worker) await this.#restart();
    const worker = this.#worker;
    if (!worker) throw new Error(`the ${this.#options.name} thread is not there`);
    return new Promise<T>((resolve, reject) => {
      const id = this.#nextId++;
      const { count } = this.#answers;
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        if (limitMs <= ANSWER_MS) this.#answers.isOverdue(id, count);
        reject(new Error(`the ${this.#options.name} thread did not answer within ${limitMs / 1000} seconds`));
      }, limitMs);
      this.#waiting.set(id, { resolve, reject, timer });
      worker.postMessage({ id, job } satisfies Question<Job>, transfer);
    });
  }

  /** Sends a job without an answer; lost if the thread is not there. */
  tell(job: Job): void {
    this.#worker?.postMessage({ id: 0, job } satisfies Question<Job>);
  }

  async terminate(): Promise<void> {
    this.#stopped = true;
    await this.#worker?.terminate();
  }

  async #restart(): Promise<void> {
    if (this.#stopped) throw new Error('stopped');
    await this.#options.beforeRestart?.();
    if (!this.#worker) await this.start();
  }

  #open(): Promise<void> {
    const worker = new Worker(this.#options.file, {
      // Seen in `top -H`, and by the bench of costs.
      name: this.#options.name,
      workerData: this.#options.workerData,
      execArgv: [],
      // The default young generation grows by tens of megabytes under load, and no faster for it.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    return new Promise((resolve, reject) => {
      let cause: Error | undefined;
      worker.on('message', (answer: Answer) => {
        if ('ready' in answer) {
          this.#worker = worker;
          resolve();
        } else this.#receive(answer);
      });
      worker.on('error', (error: Error) => (cause = error));
      worker.on('exit', (code) => {
        const error = new Error(`the ${this.#options.name} thread ended (exit ${code})`, { cause });
        reject(error);
        if (this.#worker === worker) this.#died(error);
      });
    });
  }

  #receive(answer: Exclude<Answer, { ready: true }>): void {
    if ('report' in answer) {
      this.#options.log?.warn({ err: toError(answer.failure) }, `${answer.report} failed and will be tried again`);
      return;
    }
    if ('notice' in answer) return this.#options.onNotice?.(answer.notice);
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    this.#answers.came(answer.id, !('failure' in answer));
    clearTimeout(waiting?.timer);
    if ('failure' in answer) return waiting?.reject(toError(answer.failure));
    waiting?.resolve(answer.value);
  }

  #died(error: Error): void {
    this.#worker = null;
    if (!this.#stopped) this.#options.log?.warn({ err: error }, error.message);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
    this.#answers.clear();
  }
}

/** Knows which answers of a thread are overdue, and whether it answers at all. */
class AnswerWatch {
  readonly #overdue = new Set<number>();
  /** Number of answers. */
  count = 0;
  /** No answer came for as long as a question may take. */
  #isSilent = false;

  /** Whether the thread hangs: of one that answers, `most` may be overdue. */
  areMissing(most: number): boolean {
    return this.#overdue.size >= (this.#isSilent ? 1 : most);
  }

  /** Notes that the answer did not come in time; `before`: the number of answers when it was asked for. */
  isOverdue(id: number, before: number): void {
    this.#overdue.add(id);
    this.#isSilent ||= this.count === before;
  }

  came(id: number, isWorking: boolean): void {
    this.#overdue.delete(id);
    if (!isWorking) return;
    this.count += 1;
    this.#isSilent = false;
  }

  clear(): void {
    this.#overdue.clear();
    this.#isSilent = false;
  }
}

function toError(failure: Failure): Error {
  if (failure.appError !== undefined) {
    const { code, details } = failure.appError;
    return new AppError(code, failure.message, { details });
  }
  const error = Object.assign(new Error(failure.message), { code: failure.code });
  if (failure.stack !== undefined) error.stack = failure.stack;
  return error;
}

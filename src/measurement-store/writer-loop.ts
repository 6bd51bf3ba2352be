import { settleAll, type Steps } from './eraser.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { FlushAnswer, WriterJob } from './writer-messages.ts';

const RETRY_MS = 1_000;

export interface WriterAnswers {
  answer(id: number, value: unknown, transfer?: ArrayBuffer[]): void;
  fail(id: number, error: unknown): void;
  /** Something in the background failed; it will be tried again. */
  report(what: string, error: unknown): void;
}

interface LongJob {
  steps: Steps<unknown>;
  done(value: unknown): void;
  failed(error: unknown): void;
}

/**
 * Decides what the writer thread does next. Jobs run as they arrive, in order. In between: one step of each long job,
 * one slice of settling, and a look for new messages, round and round. While a turn is held nothing at all is done.
 */
export class WriterLoop {
  readonly #writer: SqliteWriter;
  readonly #answers: WriterAnswers;
  readonly #jobs: { id: number; job: WriterJob }[] = [];
  readonly #long = new Set<LongJob>();
  #held = false;
  #purging = false;
  #immediate = false;
  #timer: NodeJS.Timeout | null = null;
  #retryAt = 0;
  #ended = false;

  constructor(writer: SqliteWriter, answers: WriterAnswers) {
    this.#writer = writer;
    this.#answers = answers;
    this.#startPurging();
    this.#plan();
  }

  receive(id: number, job: WriterJob): void {
    if (job.kind === 'release') this.#held = false;
    else this.#jobs.push({ id, job });
    this.#runJobs();
    this.#plan();
  }

  #runJobs(): void {
    while (!this.#held && this.#jobs.length > 0) {
      const { id, job } = this.#jobs.shift()!;
      try {
        this.#run(id, job);
      } catch (error) {
        this.#answers.fail(id, error);
      }
    }
  }

  #run(id: number, job: WriterJob): void {
    const writer = this.#writer;
    switch (job.kind) {
      case 'flush': {
        // A copy: the bytes stay here until they are settled, the buffer goes back to be used again.
        const bytes = Buffer.from(new Uint8Array(job.buffer, 0, job.length));
        const answer: FlushAnswer = { seq: writer.flush(bytes, job.calls), buffer: job.buffer };
        return this.#answers.answer(id, answer, [job.buffer]);
      }
      case 'hold':
        this.#held = true;
        return this.#answers.answer(id, undefined);
      case 'settle':
        if (!job.deviceKeys) return this.#begin(id, settleAll(writer.settler));
        writer.settler.settleDevices(job.deviceKeys);
        return this.#answers.answer(id, undefined);
      case 'lastHeard':
        return this.#answers.answer(id, writer.settler.lastHeard(job.deviceKeys));
      case 'remove':
        return this.#begin(id, writer.eraser.remove(job.query));
      case 'purge':
        writer.eraser.addPurges(job.purges);
        this.#startPurging();
        return this.#answers.answer(id, undefined);
      case 'updateCall':
        return this.#answers.answer(id, writer.updateCall(job.call));
      case 'removeCalls':
        return this.#answers.answer(id, writer.removeCalls(job.receivedBefore, job.productKey, job.limit));
      case 'stop':
        return this.#stop(id);
      case 'release':
      // It does not wait in line: `receive` has seen to it.
    }
  }

  #begin(id: number, steps: Steps<unknown>): void {
    const done = (value: unknown): void => this.#answers.answer(id, value);
    this.#long.add({ steps, done, failed: (error) => this.#answers.fail(id, error) });
  }

  #startPurging(): void {
    if (this.#purging) return;
    this.#purging = true;
    const done = (): void => void (this.#purging = false);
    const failed = (error: unknown): void => {
      this.#answers.report('purging', error);
      done();
      setTimeout(() => {
        this.#startPurging();
        this.#plan();
      }, RETRY_MS).unref();
    };
    this.#long.add({ steps: this.#writer.eraser.purge(), done, failed });
  }

  /** Makes sure that `#background` runs when there is something for it to do. */
  #plan(): void {
    if (this.#held || this.#immediate || this.#ended) return;
    const wait = this.#long.size > 0 ? 0 : Math.max(this.#writer.settlingDueIn(), this.#retryAt - performance.now());
    if (wait <= 0) {
      this.#immediate = true;
      setImmediate(() => {
        this.#immediate = false;
        this.#background();
      });
    } else if (wait < Infinity && !this.#timer) {
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.#plan();
      }, wait + 1);
    }
  }

  #background(): void {
    if (this.#held || this.#ended) return;
    for (const job of this.#long) {
      try {
        const step = job.steps.next();
        if (!step.done) continue;
        this.#long.delete(job);
        job.done(step.value);
      } catch (error) {
        this.#long.delete(job);
        job.failed(error);
      }
    }
    if (this.#writer.settlingDueIn() === 0 && performance.now() >= this.#retryAt) this.#settle();
    this.#plan();
  }

  #settle(): void {
    try {
      this.#writer.settleSome();
    } catch (error) {
      this.#retryAt = performance.now() + RETRY_MS;
      this.#answers.report('settling', error);
    }
  }

  #stop(id: number): void {
    this.#ended = true;
    for (const job of this.#long) job.failed(new Error('the store is stopping'));
    this.#long.clear();
    if (this.#timer) clearTimeout(this.#timer);
    try {
      // Not needed, as the inbox is durable; it makes the next start quicker.
      for (const _ of settleAll(this.#writer.settler));
    } catch (error) {
      this.#answers.report('settling', error);
    }
    this.#writer.close();
    this.#answers.answer(id, undefined);
  }
}

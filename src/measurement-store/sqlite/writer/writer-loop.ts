import type { SqliteWriter } from './sqlite-writer.ts';
import type { Flushed, WriterJob } from './writer-messages.ts';
import { must } from '../../../must.ts';

interface WriterAnswers {
  answer(id: number, value: unknown, transfer?: ArrayBuffer[]): void;
  fail(id: number, error: unknown): void;
  /** It is time to copy the log into the file. */
  logBecameLong(): void;
  /** Something that nobody asked for failed, and will be tried again. */
  report(what: string, error: unknown): void;
}

/** Readings that came one by one are sorted in together: flash storage is written to once for all of them. */
const SORT_IN_EVERY_MS = 1_000;

/**
 * Jobs of the writer thread run as they arrive, in order. While a turn is held nothing at all is done. What is
 * committed is sorted in a little after each flush, and when there is time.
 */
export class WriterLoop {
  readonly #writer: SqliteWriter;
  readonly #answers: WriterAnswers;
  readonly #jobs: { id: number; job: WriterJob }[] = [];
  #held = false;
  #next: NodeJS.Immediate | null = null;

  constructor(writer: SqliteWriter, answers: WriterAnswers) {
    this.#writer = writer;
    this.#answers = answers;
    setInterval(() => this.#sortIn(), SORT_IN_EVERY_MS);
  }

  receive(id: number, job: WriterJob): void {
    if (job.kind === 'release') this.#held = false;
    else this.#jobs.push({ id, job });
    while (!this.#held && this.#jobs.length > 0) {
      const next = must(this.#jobs.shift());
      try {
        this.#run(next.id, next.job);
      } catch (error) {
        this.#answers.fail(next.id, error);
      }
      const { kind } = next.job;
      if (kind === 'flush' || kind === 'rewrite') this.#keepUp();
      if (kind === 'flush' || kind === 'rewrite' || kind === 'change')
        this.#inBackground('looking at the log', () => {
          if (this.#writer.logBecameLong()) this.#answers.logBecameLong();
        });
    }
  }

  /** What the commits before have left to do; jobs come in between. */
  #keepUp(): void {
    if (this.#held || this.#next !== null) return;
    this.#inBackground('sorting in readings', () => {
      if (!this.#writer.keepUp()) return;
      this.#next = setImmediate(() => {
        this.#next = null;
        this.#keepUp();
      });
    });
  }

  /** Slice by slice: jobs come in between. */
  #sortIn(): void {
    if (this.#held) return;
    this.#inBackground('sorting in readings', () => {
      if (this.#writer.sortInSome()) setImmediate(() => this.#sortIn());
    });
  }

  #inBackground(what: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#answers.report(what, error);
    }
  }

  #flush(id: number, { buffer, length, calls }: Extract<WriterJob, { kind: 'flush' }>): void {
    const flushed: Flushed = { buffer, ...this.#writer.flush(Buffer.from(buffer, 0, length), calls) };
    this.#answers.answer(id, flushed, [buffer]);
  }

  #run(id: number, job: WriterJob): void {
    const writer = this.#writer;
    switch (job.kind) {
      case 'flush':
        return this.#flush(id, job);
      case 'hold':
        this.#held = true;
        return this.#answers.answer(id, undefined);
      case 'change':
        return this.#answers.answer(id, writer.change(job.change, job.durable));
      case 'rewrite':
        return this.#answers.answer(id, writer.rewrite(bufferOf(job.frames), job));
      case 'forgetHeard':
        return this.#answers.answer(id, writer.forgetHeard(job.deviceKey));
      case 'endPurge':
        return this.#answers.answer(id, writer.endPurge(job.id));
      case 'updateCalls':
        return this.#answers.answer(id, writer.updateCalls(job.calls));
      case 'removeCalls':
        return this.#answers.answer(id, writer.removeCalls(job.receivedBefore, job.productKey, job.limit));
      case 'sortIn':
        return this.#answers.answer(id, writer.sortInSome());
      case 'settle':
        return this.#answers.answer(id, undefined);
      case 'copyLog':
        return this.#answers.answer(id, writer.copyLog());
      case 'showHeard':
        return this.#answers.answer(id, writer.showHeard());
      case 'stop':
        writer.close();
        return this.#answers.answer(id, undefined);
      case 'release':
      // It does not wait in line: `receive` has seen to it.
    }
  }
}

function bufferOf({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

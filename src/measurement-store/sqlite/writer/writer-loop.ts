import type { SqliteWriter } from './sqlite-writer.ts';
import type { WriterJob } from './writer-messages.ts';

interface WriterAnswers {
  answer(id: number, value: unknown, transfer?: ArrayBuffer[]): void;
  fail(id: number, error: unknown): void;
}

/** Jobs of the writer thread run as they arrive, in order. While a turn is held nothing at all is done. */
export class WriterLoop {
  readonly #writer: SqliteWriter;
  readonly #answers: WriterAnswers;
  readonly #jobs: { id: number; job: WriterJob }[] = [];
  #held = false;

  constructor(writer: SqliteWriter, answers: WriterAnswers) {
    this.#writer = writer;
    this.#answers = answers;
  }

  receive(id: number, job: WriterJob): void {
    if (job.kind === 'release') this.#held = false;
    else this.#jobs.push({ id, job });
    while (!this.#held && this.#jobs.length > 0) {
      const next = this.#jobs.shift()!;
      try {
        this.#run(next.id, next.job);
      } catch (error) {
        this.#answers.fail(next.id, error);
      }
    }
  }

  #run(id: number, job: WriterJob): void {
    const writer = this.#writer;
    switch (job.kind) {
      case 'flush':
        writer.flush(Buffer.from(job.buffer, 0, job.length), job.calls);
        return this.#answers.answer(id, job.buffer, [job.buffer]);
      case 'hold':
        this.#held = true;
        return this.#answers.answer(id, undefined);
      case 'change':
        return this.#answers.answer(id, writer.change(job.change, job.durable));
      case 'forgetHeard':
        return this.#answers.answer(id, writer.forgetHeard(job.deviceKey));
      case 'endPurge':
        return this.#answers.answer(id, writer.endPurge(job.id));
      case 'updateCall':
        return this.#answers.answer(id, writer.updateCall(job.call));
      case 'removeCalls':
        return this.#answers.answer(id, writer.removeCalls(job.receivedBefore, job.productKey, job.limit));
      case 'stop':
        writer.close();
        return this.#answers.answer(id, undefined);
      case 'release':
      // It does not wait in line: `receive` has seen to it.
    }
  }
}

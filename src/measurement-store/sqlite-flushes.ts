import type { Receipt } from '../domain/measurements/store.ts';
import { callBytes } from './check-receipt.ts';
import { type FlushTarget, toSortable } from './group-commit.ts';
import { ReceiptEncoder } from './receipt-encoder.ts';
import { type CallValues, toCallValues } from './sqlite-call-log.ts';
import type { FlushAnswer, WriterJob } from './writer-messages.ts';

/** A buffer that one huge receipt made larger than that is not kept. */
const MAX_SPARE_BYTES = 4 * 1024 * 1024;

/** Gathers receipts as bytes and hands them to the writer thread; buffers travel there and back. */
export class SqliteFlushes implements FlushTarget {
  readonly #write: (job: WriterJob, transfer: ArrayBuffer[]) => Promise<FlushAnswer>;
  readonly #encoder = new ReceiptEncoder();
  #calls: CallValues[] = [];
  readonly #spare: ArrayBuffer[] = [];

  constructor(write: (job: WriterJob, transfer: ArrayBuffer[]) => Promise<FlushAnswer>) {
    this.#write = write;
  }

  gather(receipt: Receipt): number {
    const before = this.#encoder.length;
    for (const batch of receipt.batches) this.#encoder.add(batch);
    const bytes = this.#encoder.length - before;
    if (!receipt.call) return bytes;
    this.#calls.push(toCallValues(receipt.call));
    return bytes + callBytes(receipt.call);
  }

  async flush(): Promise<string> {
    const { buffer, length } = this.#encoder.take(this.#spare.pop());
    const calls = this.#calls;
    this.#calls = [];
    const answer = await this.#write({ kind: 'flush', buffer, length, calls }, [buffer]);
    if (answer.buffer.byteLength <= MAX_SPARE_BYTES) this.#spare.push(answer.buffer);
    return toSortable(answer.seq, 11);
  }
}

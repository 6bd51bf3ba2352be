import type { Receipt } from '../../domain/ports/store.ts';
import { callBytes } from '../check-receipt.ts';
import type { FlushTarget } from '../group-commit.ts';
import { ReadingFrames } from '../readings/reading-frames.ts';
import { type CallValues, toCallValues } from './writer/sqlite-call-log.ts';
import { RecentFlushes } from './recent-flushes.ts';
import type { Flushed, WriterJob } from './writer/writer-messages.ts';

/** Maximum bytes of a buffer that is kept. */
const MAX_SPARE_BYTES = 4 * 1024 * 1024;

/** Gathers receipts as bytes and hands them to the writer thread; buffers travel there and back. */
export class SqliteFlushes implements FlushTarget {
  readonly #write: (job: WriterJob, transfer: ArrayBuffer[]) => Promise<Flushed>;
  /** Those that were committed last. */
  readonly recent = new RecentFlushes();
  readonly #frames = new ReadingFrames();
  #calls: CallValues[] = [];
  readonly #spare: ArrayBuffer[] = [];

  constructor(write: (job: WriterJob, transfer: ArrayBuffer[]) => Promise<Flushed>) {
    this.#write = write;
  }

  gather(receipt: Receipt): number {
    const before = this.#frames.length;
    for (const batch of receipt.batches) this.#frames.add(batch);
    const bytes = this.#frames.length - before;
    if (!receipt.call) return bytes;
    this.#calls.push(toCallValues(receipt.call));
    return bytes + callBytes(receipt.call);
  }

  async flush(): Promise<void> {
    const { buffer, length } = this.#frames.take(this.#spare.pop());
    const calls = this.#calls;
    this.#calls = [];
    const { buffer: spare, seq, storedAt } = await this.#write({ kind: 'flush', buffer, length, calls }, [buffer]);
    this.recent.add({ seq, storedAt, frames: Buffer.from(spare, 0, length) });
    if (spare.byteLength <= MAX_SPARE_BYTES) this.#spare.push(spare);
  }
}

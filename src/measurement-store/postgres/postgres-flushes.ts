import type { Batch, CallRow, Receipt } from '../../domain/ports/store.ts';
import { callBytes } from '../check-receipt.ts';
import type { FlushTarget } from '../group-commit.ts';
import { FlushSender, type OnCommitted } from './flush-sender.ts';
import { type Heard, HEARD_EVERY_MS, HeardDevices } from './heard-devices.ts';
import { isComplaint, type PipelinedConnection } from './postgres-connection.ts';
import { type LongReading, PostgresFlush } from './postgres-flush.ts';
import { ReadingSqueezer } from './reading-squeezer.ts';
import { unavailable } from '../unavailable.ts';

/** After a key that existed so many flushes merge at once: senders that repeat themselves seldom do it just once. */
const MERGING_FLUSHES = 100;
/** Maximum bytes of a reading when its flush is acknowledged: a longer one is squeezed before. */
const MAX_BYTES = 65_536;
/** Maximum other readings per flush that are squeezed before it is acknowledged; afterwards the next write may always win. */
const MAX_AT_ONCE = 14;

/**
 * Gathers receipts and sends them as one statement. Nearly all keys are new, and an INSERT that need not look for
 * existing ones costs PostgreSQL three quarters of one that must (3.9 against 5.2 µs a row), so it is tried first.
 */
export class PostgresFlushes implements FlushTarget {
  readonly #sender: FlushSender;
  readonly #spare: PostgresFlush[] = [];
  readonly #heard = new HeardDevices();
  readonly #squeezer: ReadingSqueezer;
  #gathered: { batches: Batch[]; calls: CallRow[] } = { batches: [], calls: [] };
  #merging = 0;
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  /** `onCommitted`: as of FlushSender. */
  constructor(connection: PipelinedConnection, onCommitted?: OnCommitted) {
    this.#sender = new FlushSender(connection, onCommitted);
    this.#squeezer = new ReadingSqueezer(connection);
  }

  gather(receipt: Receipt): number {
    let bytes = 0;
    for (const batch of receipt.batches) {
      this.#gathered.batches.push(batch);
      bytes += 100;
      for (const value of batch.values) bytes += typeof value === 'number' ? 24 : 40 + value.length * 2;
    }
    if (!receipt.call) return bytes;
    this.#gathered.calls.push(receipt.call);
    return bytes + callBytes(receipt.call);
  }

  flush(): Promise<void> {
    const { batches, calls } = this.#gathered;
    this.#gathered = { batches: [], calls: [] };
    return this.#begin(batches, calls, this.#heard.take(batches, Date.now()));
  }

  /** Resolves when the receipt times of everything acknowledged so far are in `device_state`, or cannot be. */
  async showHeard(): Promise<void> {
    await Promise.allSettled(this.#underWay);
    if (this.#heard.isWaiting) await this.#begin([], [], this.#heard.takeAll(Date.now())).catch(() => {});
  }

  /** Writes what waits; to be called before the connection is closed. */
  async stop(): Promise<void> {
    await this.#squeezer.stop();
    await this.showHeard();
    clearTimeout(this.#timer ?? undefined);
  }

  #begin(batches: Batch[], calls: CallRow[], heard: Heard[]): Promise<void> {
    const commit = this.#commit(batches, calls, heard).finally(() => this.#underWay.delete(commit));
    this.#underWay.add(commit);
    return commit;
  }

  async #commit(batches: Batch[], calls: CallRow[], heard: Heard[]): Promise<void> {
    const flush = this.#spare.pop() ?? new PostgresFlush();
    flush.fill(batches, calls, heard, Date.now());
    try {
      await this.#store(flush);
    } catch (error) {
      this.#heard.giveBack(heard);
      unavailable(error);
    } finally {
      if (this.#heard.isWaiting) this.#timer ??= setTimeout(() => this.#showSoon(), HEARD_EVERY_MS).unref();
    }
    this.#spare.push(flush);
  }

  #showSoon(): void {
    this.#timer = null;
    void this.showHeard();
  }

  async #store(flush: PostgresFlush): Promise<void> {
    const squeezing: Promise<void>[] = [];
    const tooLong: [deviceKey: number, timestamp: number][] = [];
    for (const [deviceKey, timestamp, bytes] of await this.#stored(flush)) {
      if (bytes > MAX_BYTES) tooLong.push([deviceKey, timestamp]);
      else if (squeezing.length < MAX_AT_ONCE) squeezing.push(this.#squeezer.squeeze(deviceKey, timestamp));
      else this.#squeezer.add(deviceKey, timestamp);
    }
    await Promise.allSettled(squeezing);
    await this.#squeezeEach(tooLong);
  }

  /** Resolves with the readings to be squeezed. */
  async #stored(flush: PostgresFlush): Promise<readonly LongReading[]> {
    if (this.#merging > 0) this.#merging--;
    else if (await this.#insert(flush)) return flush.long;
    // After a failed insert this commits behind a flush that was already sent: neither had been acknowledged.
    return this.#sender.send(flush, true);
  }

  /** Squeezes one after the other; a failure is ignored, as the values are stored. */
  async #squeezeEach(readings: readonly [deviceKey: number, timestamp: number][]): Promise<void> {
    try {
      for (const [deviceKey, timestamp] of readings) await this.#squeezer.squeeze(deviceKey, timestamp);
    } catch {
      // Nor would the next one be: each would wait for its own time-out.
    }
  }

  /** false: a key existed, so nothing was stored. */
  async #insert(flush: PostgresFlush): Promise<boolean> {
    try {
      await this.#sender.send(flush, false);
      return true;
    } catch (error) {
      if (!isComplaint(error, 'keyExists')) throw error;
      this.#merging = MERGING_FLUSHES;
      return false;
    }
  }
}

import {
  type Batch,
  type CallRow,
  noteRewritten,
  type Receipt,
  type RewrittenReadings,
} from '../../domain/ports/store.ts';
import { callBytes } from '../check-receipt.ts';
import type { FlushTarget } from '../group-commit.ts';
import { type Heard, HEARD_EVERY_MS, HeardDevices } from './heard-devices.ts';
import { isComplaint, type PipelinedConnection } from './postgres-connection.ts';
import { PostgresFlush } from './postgres-flush.ts';
import { ReadingSqueezer } from './reading-squeezer.ts';
import { unavailable } from '../unavailable.ts';

/** After a key that existed so many flushes merge at once: senders that repeat themselves seldom do it just once. */
const MERGING_FLUSHES = 100;
/**
 * Of long readings, which are read and written as a whole for it, one in sixteen is squeezed. One that has become too
 * long is before its flush is acknowledged: nobody writes to it faster than that.
 */
const LONG_BYTES = 65_536;
const TOO_LONG_BYTES = 2_097_152;
const SQUEEZED_ONE_IN = 16;
/** So much of a flush is squeezed before it is acknowledged: behind it the next write may always come first. */
const AT_ONCE_BYTES = 131_072;

/**
 * Gathers receipts and sends them as one statement. Nearly all keys are new, and an INSERT that need not look for
 * existing ones costs PostgreSQL three quarters of one that must (3.9 against 5.2 µs a row), so it is tried first.
 */
export class PostgresFlushes implements FlushTarget {
  readonly #connection: PipelinedConnection;
  readonly #spare: PostgresFlush[] = [];
  readonly #heard = new HeardDevices();
  readonly #squeezer: ReadingSqueezer;
  #batches: Batch[] = [];
  #calls: CallRow[] = [];
  readonly #onRewritten: ((readings: RewrittenReadings) => void) | undefined;
  #merging = 0;
  /** How many long ones came, modulo `SQUEEZED_ONE_IN`. */
  #long = 0;
  readonly #underWay = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;

  /** `onRewritten`: told of long readings that were written again. */
  constructor(connection: PipelinedConnection, onRewritten?: (readings: RewrittenReadings) => void) {
    this.#connection = connection;
    this.#squeezer = new ReadingSqueezer(connection);
    this.#onRewritten = onRewritten;
  }

  gather(receipt: Receipt): number {
    let bytes = 0;
    for (const batch of receipt.batches) {
      this.#batches.push(batch);
      bytes += 100;
      for (const value of batch.values) bytes += typeof value === 'number' ? 24 : 40 + value.length * 2;
    }
    if (!receipt.call) return bytes;
    this.#calls.push(receipt.call);
    return bytes + callBytes(receipt.call);
  }

  flush(): Promise<void> {
    const [batches, calls] = [this.#batches, this.#calls];
    this.#batches = [];
    this.#calls = [];
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
    if (this.#merging > 0) this.#merging--;
    else if (await this.#insert(flush)) return;
    // After a failed insert this commits behind a flush that was already sent: neither had been acknowledged.
    const rewritten: RewrittenReadings = new Map();
    const squeezing: Promise<void>[] = [];
    const tooLong: [deviceKey: number, timestamp: number][] = [];
    let atOnce = 0;
    for (const [deviceKey, timestamp, bytes] of await this.#retried(flush, true)) {
      noteRewritten(rewritten, deviceKey, bytes);
      this.#long = (this.#long + 1) % SQUEEZED_ONE_IN;
      if (bytes > TOO_LONG_BYTES && this.#squeezer.mayHalve(deviceKey, timestamp, bytes))
        tooLong.push([deviceKey, timestamp]);
      else if (bytes >= LONG_BYTES && this.#long !== 0) continue;
      else if (atOnce + bytes <= AT_ONCE_BYTES) {
        atOnce += bytes;
        squeezing.push(this.#squeezer.squeeze(deviceKey, timestamp));
      } else this.#squeezer.add(deviceKey, timestamp);
    }
    const squeezed = Promise.allSettled(squeezing);
    if (rewritten.size > 0) this.#onRewritten?.(rewritten);
    await squeezed;
    await this.#squeezeEach(tooLong);
  }

  /** One at a time, as each is megabytes; what cannot be squeezed now is stored all the same. */
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
      await this.#retried(flush, false);
      return true;
    } catch (error) {
      if (!isComplaint(error, 'keyExists')) throw error;
      this.#merging = MERGING_FLUSHES;
      return false;
    }
  }

  async #retried(flush: PostgresFlush, merging: boolean): Promise<[number, number, number][]> {
    const statement = { ...flush.statement(merging), rowMode: 'array' as const };
    try {
      return await this.#connection.query(statement);
    } catch (error) {
      // Nothing was stored, and the same again will do.
      if (!isComplaint(error, 'notSerializable', 'deadlock')) throw error;
      return this.#connection.query(statement);
    }
  }
}

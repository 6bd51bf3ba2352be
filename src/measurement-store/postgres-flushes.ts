import type { Batch, CallRow, Receipt } from '../domain/measurements/store.ts';
import { callBytes } from './check-receipt.ts';
import { type FlushTarget, toSortable } from './group-commit.ts';
import type { PipelinedConnection } from './postgres-connection.ts';
import { PostgresFlush } from './postgres-flush.ts';
import { unavailable } from './unavailable.ts';

/** Serialization failure, deadlock: nothing was stored, and the same again will do. */
const WORTH_A_RETRY = new Set(['40001', '40P01']);
const KEY_EXISTS = '23505';
/** After a key that existed so many flushes replace at once: senders that repeat themselves seldom do it just once. */
const REPLACING_FLUSHES = 100;

/**
 * Gathers receipts and sends them as one statement. Nearly all keys are new, and an INSERT that need not look for
 * existing ones costs PostgreSQL three quarters of one that must (3.9 against 5.2 µs a row), so it is tried first.
 */
export class PostgresFlushes implements FlushTarget {
  readonly #connection: PipelinedConnection;
  readonly #spare: PostgresFlush[] = [];
  readonly #openedAt = Date.now();
  #batches: Batch[] = [];
  #calls: CallRow[] = [];
  #count = 0;
  #replacing = 0;

  constructor(connection: PipelinedConnection) {
    this.#connection = connection;
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

  async flush(): Promise<string> {
    const flush = this.#spare.pop() ?? new PostgresFlush();
    flush.fill(this.#batches, this.#calls);
    this.#batches = [];
    this.#calls = [];
    try {
      await this.#store(flush);
    } catch (error) {
      // Whatever it was, a new connection may do better: the server may be a former primary.
      this.#connection.giveUp();
      unavailable(error);
    }
    this.#spare.push(flush);
    // In the order of this node's commits since it started. Nodes are not ordered among each other: live values that
    // resume will need a place in an order that the database keeps.
    return `${toSortable(this.#openedAt, 9)}.${toSortable(this.#count++, 9)}`;
  }

  async #store(flush: PostgresFlush): Promise<void> {
    if (this.#replacing > 0) this.#replacing--;
    else if (await this.#insert(flush)) return;
    // After a failed insert this commits behind a flush that was already sent: neither had been acknowledged.
    await this.#retried(flush, true);
  }

  /** false: a key existed, so nothing was stored. */
  async #insert(flush: PostgresFlush): Promise<boolean> {
    try {
      await this.#retried(flush, false);
      return true;
    } catch (error) {
      if (codeOf(error) !== KEY_EXISTS) throw error;
      this.#replacing = REPLACING_FLUSHES;
      return false;
    }
  }

  async #retried(flush: PostgresFlush, replacing: boolean): Promise<void> {
    const statement = flush.statement(replacing);
    try {
      await this.#connection.query(statement);
    } catch (error) {
      if (!WORTH_A_RETRY.has(codeOf(error))) throw error;
      await this.#connection.query(statement);
    }
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? '';
}

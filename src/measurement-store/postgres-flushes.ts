import type pg from 'pg';
import type { Batch, CallRow, Receipt } from '../domain/measurements/store.ts';
import { callBytes } from './check-receipt.ts';
import { type FlushTarget, toSortable } from './group-commit.ts';
import { PostgresFlush } from './postgres-flush.ts';
import { unavailable } from './unavailable.ts';

/** Serialization failure, deadlock: nothing was stored, and the same again will do. */
const WORTH_A_RETRY = new Set(['40001', '40P01']);

/** Gathers receipts and sends them as one statement. */
export class PostgresFlushes implements FlushTarget {
  readonly #pool: pg.Pool;
  readonly #flush = new PostgresFlush();
  readonly #openedAt = Date.now();
  #batches: Batch[] = [];
  #calls: CallRow[] = [];
  #count = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
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
    const batches = this.#batches;
    const calls = this.#calls;
    this.#batches = [];
    this.#calls = [];
    await this.#run(this.#flush.statement(batches, calls)).catch(unavailable);
    // In the order of this node's commits since it started. Nodes are not ordered among each other: live values that
    // resume will need a place in an order that the database keeps.
    return `${toSortable(this.#openedAt, 9)}.${toSortable(this.#count++, 9)}`;
  }

  async #run(statement: pg.QueryConfig): Promise<void> {
    try {
      await this.#pool.query(statement);
    } catch (error) {
      if (!WORTH_A_RETRY.has((error as { code?: string }).code ?? '')) throw error;
      await this.#pool.query(statement);
    }
  }
}

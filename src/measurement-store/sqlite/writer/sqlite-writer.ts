import type Sqlite from 'better-sqlite3';
import type { CallOutcome, SharedValue } from '../../../domain/ports/store.ts';
import type { Change } from '../../chunks/edit.ts';
import { type Transactions, transactionsOf } from './open-for-writing.ts';
import { ChangeWriter } from './change-writer.ts';
import { PartWriter } from './part-writer.ts';
import { WriteBuffer } from './write-buffer.ts';
import { ReadingInserts } from './reading-inserts.ts';
import { type CallValues, SqliteCallLog } from './sqlite-call-log.ts';
import { WriteAheadLog } from './write-ahead-log.ts';
import { must } from '../../../must.ts';

/** Everything that writes to the store's tables: each method is one short transaction. */
export class SqliteWriter {
  readonly #db: Sqlite.Database;
  readonly #transactions: Transactions;
  readonly #calls: SqliteCallLog;
  readonly #intake: WriteBuffer;
  readonly #changes: ChangeWriter;
  readonly #log: WriteAheadLog;
  readonly #heard: { keepNumber: Sqlite.Statement<[number]>; forget: Sqlite.Statement<[number]> };
  #seq: number;

  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#transactions = transactionsOf(db);
    this.#calls = new SqliteCallLog(db);
    const parts = new PartWriter(db);
    const readings = new ReadingInserts(db, parts);
    this.#intake = new WriteBuffer(db, this.#transactions, readings);
    this.#changes = new ChangeWriter(db, readings, parts);
    this.#log = new WriteAheadLog(db);
    this.#heard = {
      keepNumber: db.prepare(
        `UPDATE live_horizon SET last_flush = heard.seq FROM device_state AS heard
         WHERE heard.device_key = ? AND heard.seq > last_flush`,
      ),
      forget: db.prepare('DELETE FROM device_state WHERE device_key = ?'),
    };
    // Every place that has a number: each may lose the highest one to a deletion or to chunks.
    this.#seq = must(
      db
        .prepare<[], number>(
          `SELECT max((SELECT coalesce(max(seq), 0) FROM reading), (SELECT coalesce(max(seq), 0) FROM device_state),
                    (SELECT coalesce(max(seq), 0) FROM intake), (SELECT max(seq, last_flush) FROM live_horizon))`,
        )
        .pluck()
        .get(),
    );
  }

  /** One durable commit of a group of receipts: its number and time. */
  flush(frames: Buffer, calls: CallValues[]): { seq: number; storedAt: number } {
    const [seq, storedAt] = [++this.#seq, Date.now()];
    this.#intake.commit(seq, storedAt, frames, () => this.#calls.insert(calls));
    return { seq, storedAt };
  }

  /** After each flush, when its answer is on its way; whether more of it is left. */
  keepUp(): boolean {
    return this.#intake.keepUp();
  }

  /** A slice of what waits to be sorted in; whether there is more. */
  sortInSome(): boolean {
    return this.#intake.sortInSome();
  }

  showHeard(): void {
    this.#intake.showHeard();
  }

  /**
   * Writes a slice of an edit; returns how many of its readings were written again since. What only moves from one
   * place to another need not be on the disk at once.
   */
  change(change: Change, durable: boolean): number {
    const seq = change.filled === null ? this.#seq : ++this.#seq;
    if (durable) {
      // A reading that is to go must not come in again behind it, and what is filled in must find all that there is.
      this.#intake.sortInAll();
      return this.#transactions.transact(() => this.#changes.write(change, seq));
    }
    return this.#transactions.lightly(() => this.#changes.write(change, seq));
  }

  /**
   * One durable commit of what a replay changes; false, and nothing of it is written, if readings were written again since
   * the changes were planned.
   */
  rewrite(frames: Buffer, { changes, shared, calls }: Rewritten): boolean {
    // What a change takes out of a reading must be in it, and not come in again behind it.
    if (changes.length > 0) this.#intake.sortInAll();
    const seq = ++this.#seq;
    try {
      this.#intake.commit(seq, Date.now(), frames, () => {
        for (const change of changes) if (this.#changes.write(change, seq) > 0) throw new WrittenAgain();
        for (const value of shared) this.#calls.share(value);
        this.#calls.update(calls);
      });
      return true;
    } catch (error) {
      if (error instanceof WrittenAgain) return false;
      throw error;
    }
  }

  /** From now on the device was never heard; that its flushes were numbered remains. */
  forgetHeard(deviceKey: number): void {
    this.#intake.showHeard();
    this.#transactions.transact(() => {
      this.#heard.keepNumber.run(deviceKey);
      this.#heard.forget.run(deviceKey);
    });
  }

  /** All of it is forgotten now. */
  endPurge(id: number): void {
    this.#transactions.transact(() => this.#db.prepare('DELETE FROM purge WHERE id = ?').run(id));
  }

  updateCalls(calls: CallOutcome[]): void {
    this.#transactions.transact(() => this.#calls.update(calls));
  }

  /** What a power cut brings back goes when it is asked for again: with a product, before that is gone. */
  removeCalls(receivedBefore: number, productKey: number | undefined, limit: number): number {
    return this.#transactions.lightly(() => this.#calls.remove(receivedBefore, productKey, limit));
  }

  /** Whether it is time to copy the log into the file; tells once for each stretch of it. */
  logBecameLong(): boolean {
    return this.#log.becameLong();
  }

  /** Copies into the file what is left of the log. */
  copyLog(): void {
    this.#log.copy();
  }

  close(): void {
    try {
      this.#intake.sortInAll();
    } finally {
      this.#db.close();
    }
  }
}

/** What comes with the batches. */
interface Rewritten {
  changes: Change[];
  shared: SharedValue[];
  calls: CallOutcome[];
}

/** Rolls a commit back. */
class WrittenAgain extends Error {}

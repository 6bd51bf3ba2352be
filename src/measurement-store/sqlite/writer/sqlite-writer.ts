import type Sqlite from 'better-sqlite3';
import type { CallOutcome } from '../../call-columns.ts';
import type { Change } from '../../chunks/edit.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import { type Transact, transactor } from './open-for-writing.ts';
import { ChangeWriter } from './change-writer.ts';
import { ReadingInserts } from './reading-inserts.ts';
import { type CallValues, SqliteCallLog } from './sqlite-call-log.ts';

/** Everything that writes to the store's tables: each method is one short transaction. */
export class SqliteWriter {
  readonly #db: Sqlite.Database;
  readonly #transact: Transact;
  readonly #calls: SqliteCallLog;
  readonly #readings: ReadingInserts;
  readonly #changes: ChangeWriter;
  readonly #heard: Sqlite.Statement<[number, number, number]>;
  #seq: number;

  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#transact = transactor(db);
    this.#calls = new SqliteCallLog(db);
    this.#readings = new ReadingInserts(db);
    this.#changes = new ChangeWriter(db);
    this.#heard = db.prepare(
      `INSERT INTO device_state (device_key, last_heard_at, seq) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET last_heard_at = max(last_heard_at, excluded.last_heard_at), seq = excluded.seq`,
    );
    this.#seq = db
      .prepare<[], number>(
        `SELECT max((SELECT coalesce(max(seq), 0) FROM reading), (SELECT coalesce(max(seq), 0) FROM device_state))`,
      )
      .pluck()
      .get()!;
  }

  /** One durable commit of a group of receipts. */
  flush(frames: Buffer, calls: CallValues[]): void {
    const storedAt = Date.now();
    const seq = ++this.#seq;
    try {
      this.#transact(() => {
        eachFrame(
          frames,
          (deviceKey, receivedAt) => this.#heard.run(deviceKey, receivedAt, seq),
          (deviceKey, timestamp, values) => this.#readings.add(deviceKey, timestamp, storedAt, seq, values),
        );
        this.#readings.flush();
        this.#calls.insert(calls);
      });
    } catch (error) {
      this.#readings.forget();
      throw error;
    }
  }

  /**
   * Writes a slice of an edit; returns how many of its readings were written again since. What only moves from one
   * place to another need not be on the disk at once: the log is written in order, so the next commit takes it along.
   */
  change(change: Change, durable: boolean): number {
    if (durable) return this.#transact(() => this.#changes.write(change));
    this.#db.exec('PRAGMA synchronous = NORMAL');
    try {
      return this.#transact(() => this.#changes.write(change));
    } finally {
      this.#db.exec('PRAGMA synchronous = FULL');
    }
  }

  /** From now on the device was never heard. */
  forgetHeard(deviceKey: number): void {
    this.#transact(() => this.#db.prepare('DELETE FROM device_state WHERE device_key = ?').run(deviceKey));
  }

  /** All of it is forgotten now. */
  endPurge(id: number): void {
    this.#transact(() => this.#db.prepare('DELETE FROM purge WHERE id = ?').run(id));
  }

  updateCall(call: CallOutcome): void {
    this.#transact(() => this.#calls.update(call));
  }

  removeCalls(receivedBefore: number, productKey: number | undefined, limit: number): number {
    return this.#transact(() => this.#calls.remove(receivedBefore, productKey, limit));
  }

  close(): void {
    this.#db.close();
  }
}

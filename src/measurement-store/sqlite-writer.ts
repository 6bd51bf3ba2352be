import type Sqlite from 'better-sqlite3';
import { Eraser, settleAll } from './eraser.ts';
import { Settler } from './settler.ts';
import type { CallOutcome } from './call-columns.ts';
import { type CallValues, SqliteCallLog } from './sqlite-call-log.ts';
import { type Transact, transactor } from './sqlite-connection.ts';

/** A group is settled when it has this many rows, or its first receipt is that old: large groups share pages. */
const GROUP_ROWS = 100_000;
const GROUP_AGE_MS = 1_000;
/**
 * A group is settled evenly over the time that the next one takes to come together, and done a little before: in one
 * go, every request would wait for a slice for a quarter of a second (p99 of 60 ms at half load, evenly 10 to 15).
 */
const PACE = 1.25;
/** With more than this unsettled, settling comes before new receipts: memory stays flat under endless load. */
const MAX_UNSETTLED_ROWS = 300_000;
/** What an append may have to wait for; longer slices cost less altogether, so they are for when much is waiting. */
const SLICE_MS = 1;
const LONG_SLICE_MS = 4;

/** Everything that writes to the store's tables. All of it is synchronous and short, or comes in steps. */
export class SqliteWriter {
  readonly settler: Settler;
  readonly calls: SqliteCallLog;
  readonly eraser: Eraser;
  readonly #db: Sqlite.Database;
  readonly #transact: Transact;
  readonly #insertInbox: Sqlite.Statement<[Buffer]>;
  readonly #lastInbox: Sqlite.Statement<[], number>;
  #groupStartedAt = 0;

  /** Settles what a crash left in the inbox. */
  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#transact = transactor(db);
    this.#insertInbox = db.prepare('INSERT INTO inbox (receipts) VALUES (?)');
    this.#lastInbox = db.prepare<[], number>("SELECT seq FROM sqlite_sequence WHERE name = 'inbox'").pluck();
    this.settler = new Settler(db);
    this.calls = new SqliteCallLog(db);
    this.eraser = new Eraser(db, this.settler);
    this.#settleInbox();
  }

  /** One durable commit of a group of receipts; returns its place in commit order. */
  flush(bytes: Buffer, calls: CallValues[]): number {
    while (this.settler.rows > MAX_UNSETTLED_ROWS) this.settleSome(5 * LONG_SLICE_MS);
    const seq = this.#transact(() => {
      this.calls.insert(calls);
      return Number(this.#insertInbox.run(bytes).lastInsertRowid);
    });
    this.settler.add(seq, bytes, performance.now());
    return seq;
  }

  /** Milliseconds until settling has something to do: 0 now, Infinity nothing at all. */
  settlingDueIn(): number {
    const { hasGroup, progress, waitingRows, oldestAt } = this.settler;
    const now = performance.now();
    if (!hasGroup) return waitingRows >= GROUP_ROWS ? 0 : Math.max(0, oldestAt + GROUP_AGE_MS - now);
    if (progress === 1 || progress < (waitingRows / GROUP_ROWS) * PACE) return 0;
    return Math.max(0, this.#groupStartedAt + (progress * GROUP_AGE_MS) / PACE - now);
  }

  settleSome(milliseconds = this.settler.rows > 2 * GROUP_ROWS ? LONG_SLICE_MS : SLICE_MS): void {
    if (!this.settler.hasGroup) {
      this.settler.startGroup();
      this.#groupStartedAt = performance.now();
    }
    this.settler.slice(milliseconds);
  }

  updateCall(call: CallOutcome): void {
    this.#transact(() => this.calls.update(call));
  }

  removeCalls(receivedBefore: number, productKey: number | undefined, limit: number): number {
    return this.#transact(() => this.calls.remove(receivedBefore, productKey, limit));
  }

  close(): void {
    this.#db.close();
  }

  #settleInbox(): void {
    const rows = this.#db.prepare<[number], { seq: number; receipts: Buffer }>(
      'SELECT seq, receipts FROM inbox WHERE seq > ? ORDER BY seq LIMIT 200',
    );
    this.settler.lastSeq = this.settler.settledSeq = this.#lastSettled();
    for (let page = rows.all(this.settler.lastSeq); page.length > 0; page = rows.all(this.settler.lastSeq)) {
      for (const row of page) this.settler.add(row.seq, row.receipts, 0);
      if (this.settler.rows > GROUP_ROWS) this.#settleAllNow();
    }
    this.#settleAllNow();
  }

  #settleAllNow(): void {
    for (const _ of settleAll(this.settler));
  }

  #lastSettled(): number {
    const first = this.#db.prepare<[], number | null>('SELECT min(seq) FROM inbox').pluck().get();
    return typeof first === 'number' ? first - 1 : (this.#lastInbox.get() ?? 0);
  }
}

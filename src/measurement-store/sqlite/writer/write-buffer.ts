import type Sqlite from 'better-sqlite3';
import type { Transactions } from './open-for-writing.ts';
import type { ReadingInserts } from './reading-inserts.ts';
import { WaitingReadings } from './waiting-readings.ts';

interface Heard {
  at: number;
  seq: number;
}

/** Device, receipt time, number of the flush. */
export const HEAR = `
  INSERT INTO device_state (device_key, last_heard_at, seq) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET last_heard_at = max(last_heard_at, excluded.last_heard_at), seq = excluded.seq`;

/** A group: of a thousand busy devices each has a few readings in it, which share a page. */
const GROUP_READINGS = 4_096;
const GROUP_BYTES = 1_000_000;
/** One transaction, of some three milliseconds: smaller ones write the pages of the index by order of commits more often. */
const SLICE_READINGS = 512;
/** At once after a commit: the next one may be waiting. */
const MOST_READINGS = 1_024;
/** What is sorted in for each reading that comes, so that the work never falls behind. */
const PACE = 2;
/** More than that does not wait: a flush that finds it works off as much as it brings, before it is committed. */
const MAX_WAITING_READINGS = 65_536;
const MAX_WAITING_BYTES = 32_000_000;

/**
 * What is committed is first one row a flush (table `intake`), then sorted in among the readings in groups. A reading
 * on its own changes a page of its own; sorted, those of a device share one. Recording costs half of what it does
 * straight into the table (measured: 9 µs a reading of this thread instead of 17, a flush 0.3 ms instead of 0.6).
 * Sorting in again changes nothing, so it need not be on the disk before the next commit.
 */
export class WriteBuffer {
  readonly #transactions: Transactions;
  readonly #readings: ReadingInserts;
  readonly #sql: {
    insert: Sqlite.Statement<[number, number, Buffer]>;
    remove: Sqlite.Statement<[number]>;
    hear: Sqlite.Statement<[number, number, number]>;
  };
  #gathering = new WaitingReadings();
  /** What is being sorted in; those before `#at` are in their place. */
  #group = new WaitingReadings();
  #at = 0;
  #heard = new Map<number, Heard>();
  #owed = 0;

  constructor(db: Sqlite.Database, transactions: Transactions, readings: ReadingInserts) {
    this.#transactions = transactions;
    this.#readings = readings;
    this.#sql = {
      insert: db.prepare('INSERT INTO intake (seq, stored_at, frames) VALUES (?, ?, ?)'),
      remove: db.prepare('DELETE FROM intake WHERE seq <= ?'),
      hear: db.prepare(HEAR),
    };
    // What a process that was killed has left.
    const left = db.prepare<[], { seq: number; stored_at: number; frames: Buffer }>(
      'SELECT * FROM intake ORDER BY seq',
    );
    for (const { seq, stored_at: storedAt, frames } of left.all()) this.#add(seq, storedAt, frames);
  }

  /** One durable commit: the frames, and what `also` writes. */
  commit(seq: number, storedAt: number, frames: Buffer, also: () => void): void {
    this.#makeRoom(frames.length);
    this.#transactions.transact(() => {
      if (frames.length > 0) this.#sql.insert.run(seq, storedAt, frames);
      also();
    });
    this.#add(seq, storedAt, frames);
  }

  /** After each commit: its share of the work, a slice at a time; whether more of it is left. */
  keepUp(): boolean {
    if (this.#isSortingIn) {
      if (this.#owed >= SLICE_READINGS) this.#sortIn(Math.min(this.#owed, MOST_READINGS));
    } else if (this.#gathering.length >= GROUP_READINGS || this.#gathering.bytes >= GROUP_BYTES) this.#takeGroup();
    return this.#isSortingIn && this.#owed >= SLICE_READINGS;
  }

  /** A slice of what waits; whether there is more. */
  sortInSome(): boolean {
    if (this.#hasWork) this.#sortIn(SLICE_READINGS);
    return this.#hasWork;
  }

  /** Everything that waits. */
  sortInAll(): void {
    while (this.#hasWork) this.#sortIn(Infinity);
  }

  /** Receipt times of everything committed so far go to `device_state`. */
  showHeard(): void {
    if (this.#heard.size > 0) this.#transactions.lightly(() => this.#writeHeard());
    this.#heard.clear();
  }

  /** Whether a group is on its way to its place. */
  get #isSortingIn(): boolean {
    return this.#group.lastSeq > 0;
  }

  get #hasWork(): boolean {
    return this.#isSortingIn || this.#gathering.lastSeq > 0;
  }

  #makeRoom(bytes: number): void {
    const waiting = this.#waiting;
    const upTo = waiting.readings * (1 - bytes / waiting.bytes);
    for (let left = waiting.readings; left > upTo && this.#isTooMuch; left = this.#waiting.readings)
      this.#sortIn(Math.max(Math.ceil(left - upTo), MOST_READINGS));
  }

  get #isTooMuch(): boolean {
    const { readings, bytes } = this.#waiting;
    return readings > MAX_WAITING_READINGS || bytes > MAX_WAITING_BYTES;
  }

  get #waiting(): { readings: number; bytes: number } {
    const [group, gathering] = [this.#group, this.#gathering];
    const left = group.length - this.#at;
    const leftBytes = group.length === 0 ? 0 : (left / group.length) * group.bytes;
    return { readings: left + gathering.length, bytes: leftBytes + gathering.bytes };
  }

  #add(seq: number, storedAt: number, frames: Buffer): void {
    const before = this.#gathering.length;
    this.#gathering.add(seq, storedAt, frames, (deviceKey, at) => {
      const heard = this.#heard.get(deviceKey);
      if (!heard) return this.#heard.set(deviceKey, { at, seq });
      heard.at = Math.max(at, heard.at);
      heard.seq = seq;
    });
    if (this.#isSortingIn) this.#owed += (this.#gathering.length - before) * PACE;
  }

  #sortIn(most: number): void {
    if (!this.#isSortingIn) this.#takeGroup();
    const group = this.#group;
    const from = this.#at;
    const to = Math.min(from + most, group.length);
    try {
      this.#transactions.lightly(() => {
        // Before the first of its readings: whoever has readings was heard.
        if (from === 0) this.#writeHeard();
        group.write(from, to, this.#readings);
        this.#readings.flush();
        if (to === group.length) this.#sql.remove.run(group.lastSeq);
      });
    } catch (error) {
      this.#readings.forget();
      throw error;
    }
    const isLast = to === group.length;
    if (from === 0) this.#heard.clear();
    this.#at = isLast ? 0 : to;
    this.#owed = isLast ? 0 : Math.max(0, this.#owed - (to - from));
    if (isLast) group.clear();
  }

  #takeGroup(): void {
    [this.#group, this.#gathering] = [this.#gathering, this.#group];
    this.#group.sort();
    this.#owed = 0;
  }

  #writeHeard(): void {
    const inOrder = [...this.#heard].sort(([a], [b]) => a - b);
    for (const [deviceKey, { at, seq }] of inOrder) this.#sql.hear.run(deviceKey, at, seq);
  }
}

import type Sqlite from 'better-sqlite3';
import { storedAtOf } from '../../../domain/measurements/store.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import type { Transact, Transactions } from './open-for-writing.ts';
import type { ReadingInserts } from './reading-inserts.ts';

interface Flush {
  seq: number;
  frames: Buffer;
}

/** A reading that is committed and not in its place yet; its values are the bytes of its flush from `start` to `end`. */
interface Waiting {
  deviceKey: number;
  timestamp: number;
  storedAt: number;
  flush: Flush;
  start: number;
  end: number;
}

/** Readings of whole flushes in the order of their places; those before `at` are there already. */
interface Group {
  readings: Waiting[];
  lastSeq: number;
  at: number;
}

interface Heard {
  at: number;
  seq: number;
}

/** A group: of a thousand busy devices each has a few readings in it, which share a page. */
const GROUP_READINGS = 4_096;
const GROUP_BYTES = 1_000_000;
/** One transaction, of about two milliseconds. */
const SLICE_READINGS = 256;
/** What is sorted in for each reading that comes, so that the work never falls behind. */
const PACE = 2;
/** More than that does not wait: the flush that finds it works it off first. */
const MAX_WAITING_READINGS = 32_768;
const MAX_WAITING_BYTES = 16_000_000;

/**
 * What is committed is first one row a flush (table `intake`), then sorted in among the readings in groups. A reading
 * on its own changes a page of its own; sorted, those of a device share one. Recording costs half of what it does
 * straight into the table (measured: 9 µs a reading of this thread instead of 17, a flush 0.3 ms instead of 0.6).
 * Sorting in again changes nothing, so it need not be on the disk before the next commit.
 */
export class Intake {
  readonly #transact: Transact;
  readonly #lightly: Transact;
  readonly #readings: ReadingInserts;
  readonly #insert: Sqlite.Statement<[number, number, Buffer]>;
  readonly #remove: Sqlite.Statement<[number]>;
  readonly #hear: Sqlite.Statement<[number, number, number]>;
  #gathering: Waiting[] = [];
  #gatheringBytes = 0;
  #gatheringUpTo = 0;
  #group: Group | null = null;
  #takenUpTo = 0;
  #heard = new Map<number, Heard>();
  #owed = 0;

  constructor(db: Sqlite.Database, { transact, lightly }: Transactions, readings: ReadingInserts) {
    this.#transact = transact;
    this.#lightly = lightly;
    this.#readings = readings;
    this.#insert = db.prepare('INSERT INTO intake (seq, stored_at, frames) VALUES (?, ?, ?)');
    this.#remove = db.prepare('DELETE FROM intake WHERE seq <= ?');
    this.#hear = db.prepare(
      `INSERT INTO device_state (device_key, last_heard_at, seq) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET last_heard_at = max(last_heard_at, excluded.last_heard_at), seq = excluded.seq`,
    );
    // What a process that was killed has left.
    const left = db.prepare<[], { seq: number; stored_at: number; frames: Buffer }>(
      'SELECT * FROM intake ORDER BY seq',
    );
    for (const { seq, stored_at: storedAt, frames } of left.all()) this.#add(seq, storedAt, frames);
  }

  /** One durable commit: the frames, and what `also` writes. */
  commit(seq: number, storedAt: number, frames: Buffer, also: () => void): void {
    if (this.#gathering.length > MAX_WAITING_READINGS || this.#gatheringBytes > MAX_WAITING_BYTES) this.sortInAll();
    this.#transact(() => {
      if (frames.length > 0) this.#insert.run(seq, storedAt, frames);
      also();
    });
    // The buffer goes back to where it came from.
    this.#add(seq, storedAt, Buffer.from(frames));
  }

  /** After each commit: its share of the work, a slice at a time. */
  keepUp(): void {
    if (this.#group) {
      if (this.#owed >= SLICE_READINGS) this.#sortIn(this.#owed);
    } else if (this.#gathering.length >= GROUP_READINGS || this.#gatheringBytes >= GROUP_BYTES) this.#takeGroup();
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
    if (this.#heard.size > 0) this.#lightly(() => this.#writeHeard());
    this.#heard.clear();
  }

  get #hasWork(): boolean {
    return this.#group !== null || this.#gatheringUpTo > this.#takenUpTo;
  }

  #add(seq: number, storedAt: number, frames: Buffer): void {
    const flush = { seq, frames };
    let batchStoredAt = storedAt;
    const before = this.#gathering.length;
    eachFrame(
      frames,
      (deviceKey, at) => {
        batchStoredAt = storedAtOf(at, storedAt);
        this.#heard.set(deviceKey, { at: Math.max(at, this.#heard.get(deviceKey)?.at ?? at), seq });
      },
      (deviceKey, timestamp, start, end) =>
        this.#gathering.push({ deviceKey, timestamp, storedAt: batchStoredAt, flush, start, end }),
    );
    this.#gatheringBytes += frames.length;
    this.#gatheringUpTo = seq;
    if (this.#group) this.#owed += (this.#gathering.length - before) * PACE;
  }

  #sortIn(most: number): void {
    const group = this.#group ?? this.#takeGroup();
    const end = Math.min(group.at + most, group.readings.length);
    const isLast = end === group.readings.length;
    try {
      this.#lightly(() => {
        // Before the first of its readings: whoever has readings was heard.
        if (group.at === 0) this.#writeHeard();
        for (let i = group.at; i < end; i++) {
          const { deviceKey, timestamp, storedAt, flush, start, end: last } = group.readings[i]!;
          this.#readings.add(deviceKey, timestamp, storedAt, flush.seq, flush.frames.subarray(start, last));
        }
        this.#readings.flush();
        if (isLast) this.#remove.run(group.lastSeq);
      });
    } catch (error) {
      this.#readings.forget();
      throw error;
    }
    if (group.at === 0) this.#heard.clear();
    group.at = end;
    this.#owed = 0;
    if (isLast) this.#group = null;
  }

  #takeGroup(): Group {
    const readings = this.#gathering.sort(
      (a, b) => a.deviceKey - b.deviceKey || a.timestamp - b.timestamp || a.flush.seq - b.flush.seq,
    );
    this.#gathering = [];
    this.#gatheringBytes = 0;
    this.#takenUpTo = this.#gatheringUpTo;
    this.#owed = 0;
    return (this.#group = { readings, lastSeq: this.#takenUpTo, at: 0 });
  }

  #writeHeard(): void {
    const inOrder = [...this.#heard].sort(([a], [b]) => a - b);
    for (const [deviceKey, { at, seq }] of inOrder) this.#hear.run(deviceKey, at, seq);
  }
}

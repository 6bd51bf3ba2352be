import type Sqlite from 'better-sqlite3';
import { noteRewritten, type RewrittenReadings } from '../../../domain/ports/store.ts';
import { mergeValues } from '../../readings/reading-values.ts';
import { LONG_MOMENT_BYTES } from '../../store-options.ts';

const ROWS = 16;
/** Sixteen of so many in one statement would be too much … */
const LONG_BYTES = 16_384;
/** … as that is for one transaction: some thirty milliseconds. */
const MUCH_BYTES = 4_194_304;

/**
 * So many rows: device, time, when it was committed, number of the flush, values; where one is, in which order they count. A
 * live one stays so, and is as new as its place in the order of commits: what is moved into chunks takes all before it along.
 */
export function readingInsert(rows: number, oldestFirst: string): string {
  return `INSERT INTO reading (device_key, ts, stored_at, seq, packed) VALUES ${Array(rows).fill('(?,?,?,?,?)').join(',')}
    ON CONFLICT DO UPDATE SET packed = merge_values(device_key, ${oldestFirst}), seq = excluded.seq,
      stored_at = max(stored_at, iif(stored_at > 0, abs(excluded.stored_at), excluded.stored_at))`;
}

/**
 * Writes readings, sixteen a statement: calling into SQLite costs as much as the row itself. Of long ones that were
 * there, one: how long they are is not known before.
 */
export class ReadingInserts {
  readonly #many: Sqlite.Statement<unknown[][]>;
  readonly #one: Sqlite.Statement<unknown[][]>;
  readonly #waiting: unknown[] = [];
  #rewritten: RewrittenReadings = new Map();
  /** Those of the devices of which it was not told since. */
  #untold: RewrittenReadings = new Map();
  /** Since the last `flush`. */
  #rewrittenBytes = 0;
  #longest = 0;
  /** Whether there were long ones since the `flush` before that. */
  #isLong = false;

  constructor(db: Sqlite.Database) {
    const merge = (deviceKey: number, older: Buffer, newer: Buffer): Buffer => {
      this.#note(deviceKey, older.length);
      return mergeValues(older, newer);
    };
    db.function('merge_values', merge as (...args: unknown[]) => Buffer);
    this.#many = db.prepare<unknown[][]>(readingInsert(ROWS, 'packed, excluded.packed'));
    this.#one = db.prepare<unknown[][]>(readingInsert(1, 'packed, excluded.packed'));
  }

  add(deviceKey: number, timestamp: number, storedAt: number, seq: number, values: Buffer): void {
    this.#waiting.push(deviceKey, timestamp, storedAt, seq, values);
    if (this.#isLong) return this.#writeEach();
    if (this.#waiting.length < ROWS * 5) return;
    this.#many.run(this.#waiting);
    this.#waiting.length = 0;
  }

  /** Whether more was written again than belongs into one transaction. */
  get isMuch(): boolean {
    return this.#rewrittenBytes > MUCH_BYTES;
  }

  /** Before every commit. */
  flush(): void {
    this.#writeEach();
    this.#isLong = this.#longest >= LONG_BYTES;
    this.#longest = 0;
    this.#rewrittenBytes = 0;
  }

  /**
   * The long readings that were written again since it was asked for the last of some, of the devices that had any since
   * it was asked; null: of none.
   */
  takeRewritten(isLast: boolean): RewrittenReadings | null {
    const untold = this.#untold;
    if (isLast) this.#rewritten = new Map();
    if (untold.size === 0) return null;
    this.#untold = new Map();
    return untold;
  }

  /** After a rollback. */
  forget(): void {
    this.#waiting.length = 0;
    this.#longest = 0;
    this.#rewrittenBytes = 0;
  }

  #writeEach(): void {
    for (let i = 0; i < this.#waiting.length; i += 5) this.#one.run(this.#waiting.slice(i, i + 5));
    this.#waiting.length = 0;
  }

  #note(deviceKey: number, bytes: number): void {
    this.#rewrittenBytes += bytes;
    if (bytes < LONG_MOMENT_BYTES) return;
    if (bytes >= LONG_BYTES) this.#isLong = true;
    this.#longest = Math.max(this.#longest, bytes);
    noteRewritten(this.#rewritten, deviceKey, bytes);
    this.#untold.set(deviceKey, this.#rewritten.get(deviceKey)!);
  }
}

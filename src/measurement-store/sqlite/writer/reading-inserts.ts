import type Sqlite from 'better-sqlite3';
import { BASE, cutReading, MAX_NEW_BYTES, MAX_RECENT_BYTES, type Part } from '../../readings/reading-parts.ts';
import { mergeValues } from '../../readings/reading-values.ts';
import type { PartWriter } from './part-writer.ts';

const ROWS = 16;

/**
 * So many rows: device, time, when it was committed, number of the flush, values; where one is, what becomes of its values. A
 * live one stays so, and is as new as its place in the order of commits: what is moved into chunks takes all before it along.
 */
function readingInsert(rows: number, merged: string): string {
  return `INSERT INTO reading (device_key, ts, stored_at, seq, packed) VALUES ${Array(rows).fill('(?,?,?,?,?)').join(',')}
    ON CONFLICT DO UPDATE SET packed = ${merged}, seq = excluded.seq,
      stored_at = max(stored_at, iif(stored_at > 0, abs(excluded.stored_at), excluded.stored_at))`;
}

const OVER = 'merge_values(device_key, ts, packed, excluded.packed)';
/** A reading with parts is filled below its base instead. */
const UNDER = 'iif(has_parts, packed, merge_values(device_key, ts, excluded.packed, packed))';

/** Writes readings, sixteen per statement: calling into SQLite costs as much as the row itself. Long readings are cut. */
export class ReadingInserts {
  readonly #many: Sqlite.Statement<unknown[][]>;
  readonly #one: Sqlite.Statement<unknown[][]>;
  readonly #under: Sqlite.Statement<unknown[], number>;
  readonly #cutNew: Sqlite.Statement<[Buffer, number, number, number]>;
  readonly #partWriter: PartWriter;
  readonly #waiting: unknown[] = [];
  /** Readings longer than `MAX_NEW_BYTES`. */
  readonly #long: [deviceKey: number, timestamp: number, values: Buffer][] = [];
  /** Parts of readings that were cut while they were merged. */
  readonly #parts: [deviceKey: number, timestamp: number, parts: Part[]][] = [];

  constructor(db: Sqlite.Database, partWriter: PartWriter) {
    this.#partWriter = partWriter;
    const merge = (deviceKey: number, timestamp: number, older: Buffer, newer: Buffer): Buffer => {
      const merged = mergeValues(older, newer);
      if (merged.length <= MAX_RECENT_BYTES) return merged;
      const { packed, parts } = cutReading(merged);
      this.#parts.push([deviceKey, timestamp, parts]);
      return packed;
    };
    db.function('merge_values', merge as (...args: unknown[]) => Buffer);
    this.#many = db.prepare<unknown[][]>(readingInsert(ROWS, OVER));
    this.#one = db.prepare<unknown[][]>(readingInsert(1, OVER));
    this.#under = db.prepare<unknown[], number>(`${readingInsert(1, UNDER)} RETURNING has_parts`).pluck();
    this.#cutNew = db.prepare('UPDATE reading SET packed = ? WHERE device_key = ? AND ts = ? AND length(packed) > ?');
  }

  add(deviceKey: number, timestamp: number, storedAt: number, seq: number, values: Buffer): void {
    this.#waiting.push(deviceKey, timestamp, storedAt, seq, values);
    if (values.length > MAX_NEW_BYTES) this.#long.push([deviceKey, timestamp, values]);
    if (this.#waiting.length < ROWS * 5) return;
    this.#many.run(this.#waiting);
    this.#waiting.length = 0;
    this.#writeParts();
  }

  /** Writes a reading of one value at once; existing values win. */
  addUnder(deviceKey: number, timestamp: number, storedAt: number, seq: number, value: Buffer): void {
    const { packed, parts } = cutReading(value);
    try {
      const hasParts = this.#under.get(deviceKey, timestamp, storedAt, seq, value);
      if (hasParts === 1) this.#partWriter.putUnder(deviceKey, timestamp, [[BASE, packed], ...parts]);
      this.#writeParts();
    } finally {
      this.forget();
    }
  }

  /** Before every commit. */
  flush(): void {
    for (let i = 0; i < this.#waiting.length; i += 5) this.#one.run(this.#waiting.slice(i, i + 5));
    this.#waiting.length = 0;
    this.#writeParts();
  }

  /** After a rollback. */
  forget(): void {
    this.#waiting.length = 0;
    this.#long.length = 0;
    this.#parts.length = 0;
  }

  #writeParts(): void {
    for (const [deviceKey, timestamp, parts] of this.#parts) this.#partWriter.put(deviceKey, timestamp, parts);
    this.#parts.length = 0;
    for (const [deviceKey, timestamp, values] of this.#long) {
      const { packed, parts } = cutReading(values);
      // A reading that existed was cut when it was merged.
      const { changes } = this.#cutNew.run(packed, deviceKey, timestamp, MAX_NEW_BYTES);
      if (changes > 0) this.#partWriter.put(deviceKey, timestamp, parts);
    }
    this.#long.length = 0;
  }
}

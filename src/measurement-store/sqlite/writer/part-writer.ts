import type Sqlite from 'better-sqlite3';
import { mergePart, type Part } from '../../readings/reading-parts.ts';

const PUT = (oldestFirst: string): string => `
  INSERT INTO reading_part (device_key, ts, part, packed) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET packed = merge_part(part, ${oldestFirst})`;

/** Writes parts of readings (`readings/reading-parts.ts`), inside the transaction of the caller. */
export class PartWriter {
  readonly #note: Sqlite.Statement<[number, number]>;
  readonly #put: Sqlite.Statement<[number, number, number, Buffer]>;
  readonly #putUnder: Sqlite.Statement<[number, number, number, Buffer]>;
  readonly #remove: Sqlite.Statement<[number, number]>;

  constructor(db: Sqlite.Database) {
    db.function('merge_part', mergePart as (...args: unknown[]) => Buffer);
    this.#note = db.prepare('UPDATE reading SET has_parts = 1 WHERE device_key = ? AND ts = ? AND NOT has_parts');
    this.#put = db.prepare(PUT('packed, excluded.packed'));
    this.#putUnder = db.prepare(PUT('excluded.packed, packed'));
    this.#remove = db.prepare('DELETE FROM reading_part WHERE device_key = ? AND ts = ?');
  }

  /** Puts them over the parts of an existing reading. */
  put(deviceKey: number, timestamp: number, parts: readonly Part[]): void {
    if (parts.length > 0) this.#note.run(deviceKey, timestamp);
    for (const [part, packed] of parts) this.#put.run(deviceKey, timestamp, part, packed);
  }

  /** Puts them below the existing parts, which win. */
  putUnder(deviceKey: number, timestamp: number, parts: readonly Part[]): void {
    for (const [part, packed] of parts) this.#putUnder.run(deviceKey, timestamp, part, packed);
  }

  /** Removes all parts of a reading. */
  remove(deviceKey: number, timestamp: number): void {
    this.#remove.run(deviceKey, timestamp);
  }
}

import type Sqlite from 'better-sqlite3';
import { mergeValues } from '../../readings/reading-values.ts';

const ROWS = 16;

/** Writes readings, sixteen a statement: calling into SQLite costs as much as the row itself. */
export class ReadingInserts {
  readonly #many: Sqlite.Statement<unknown[][]>;
  readonly #one: Sqlite.Statement<unknown[][]>;
  readonly #waiting: unknown[] = [];

  constructor(db: Sqlite.Database) {
    db.function('merge_values', { deterministic: true }, mergeValues as (...args: unknown[]) => Buffer);
    const sql = (rows: number): string =>
      `INSERT INTO reading (device_key, ts, stored_at, seq, packed) VALUES ${Array(rows).fill('(?,?,?,?,?)').join(',')}
       ON CONFLICT DO UPDATE SET packed = merge_values(packed, excluded.packed), seq = excluded.seq,
         stored_at = max(stored_at, excluded.stored_at)`;
    this.#many = db.prepare<unknown[][]>(sql(ROWS));
    this.#one = db.prepare<unknown[][]>(sql(1));
  }

  add(deviceKey: number, timestamp: number, storedAt: number, seq: number, values: Buffer): void {
    this.#waiting.push(deviceKey, timestamp, storedAt, seq, values);
    if (this.#waiting.length < ROWS * 5) return;
    this.#many.run(this.#waiting);
    this.#waiting.length = 0;
  }

  /** Before every commit. */
  flush(): void {
    for (let i = 0; i < this.#waiting.length; i += 5) this.#one.run(this.#waiting.slice(i, i + 5));
    this.#waiting.length = 0;
  }

  /** After a rollback. */
  forget(): void {
    this.#waiting.length = 0;
  }
}

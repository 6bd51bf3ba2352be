import type Sqlite from 'better-sqlite3';
import type { StoredValue } from '../domain/measurements/store.ts';

const ROWS = 16;

/** Upserts into `measurement`, sixteen rows a statement: calling into SQLite costs as much as the row itself. */
export class RowUpserts {
  readonly #many: Sqlite.Statement<StoredValue[][]>;
  readonly #one: Sqlite.Statement<StoredValue[][]>;
  #waiting: StoredValue[] = [];

  constructor(db: Sqlite.Database) {
    const sql = (rows: number): string =>
      `INSERT INTO measurement (device_key, field_key, ts, value) VALUES ${Array(rows).fill('(?,?,?,?)').join(',')}
       ON CONFLICT DO UPDATE SET value = excluded.value`;
    this.#many = db.prepare<StoredValue[][]>(sql(ROWS));
    this.#one = db.prepare<StoredValue[][]>(sql(1));
  }

  add(deviceKey: number, fieldKey: number, timestamp: number, value: StoredValue): void {
    this.#waiting.push(deviceKey, fieldKey, timestamp, value);
    if (this.#waiting.length < ROWS * 4) return;
    const rows = this.#waiting;
    this.#waiting = [];
    this.#many.run(rows);
  }

  /** Before every commit. */
  flush(): void {
    const rows = this.#waiting;
    this.#waiting = [];
    for (let i = 0; i < rows.length; i += 4) this.#one.run(rows.slice(i, i + 4));
  }

  /** After a rollback. */
  forget(): void {
    this.#waiting = [];
  }
}

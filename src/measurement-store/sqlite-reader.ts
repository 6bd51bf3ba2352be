import type Sqlite from 'better-sqlite3';
import type {
  CallFilter,
  CallQuery,
  CallRow,
  LatestRow,
  RangeQuery,
  RemoveQuery,
  StoredValue,
} from '../domain/measurements/store.ts';
import { CALL_COLUMNS, callCount, type CallRecord, callSelect, toCallRow } from './call-columns.ts';
import type { PackedColumns } from './reader-messages.ts';

const CALL_SELECT = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call`;
const RANGE = 'FROM measurement WHERE device_key = ? AND field_key = ? AND ts >= ? AND ts < ?';

/** All that is read from the store's tables, over a connection that only reads. */
export class SqliteReader {
  readonly #db: Sqlite.Database;
  readonly #latest: Sqlite.Statement<number[], [number, StoredValue]>;
  readonly #oldestFirst: Sqlite.Statement<number[], [number, StoredValue]>;
  readonly #newestFirst: Sqlite.Statement<number[], [number, StoredValue]>;
  readonly #lastHeard: Sqlite.Statement<[number], number>;
  readonly #count: Sqlite.Statement<number[], number>;

  constructor(db: Sqlite.Database) {
    this.#db = db;
    this.#latest = db
      .prepare<number[], [number, StoredValue]>(
        'SELECT ts, value FROM measurement WHERE device_key = ? AND field_key = ? ORDER BY ts DESC LIMIT 1',
      )
      .raw();
    const range = (order: string): Sqlite.Statement<number[], [number, StoredValue]> =>
      db.prepare<number[], [number, StoredValue]>(`SELECT ts, value ${RANGE} ORDER BY ts ${order} LIMIT ?`).raw();
    this.#oldestFirst = range('ASC');
    this.#newestFirst = range('DESC');
    this.#lastHeard = db
      .prepare<[number], number>('SELECT last_heard_at FROM device_state WHERE device_key = ?')
      .pluck();
    this.#count = db.prepare<number[], number>(`SELECT count(*) ${RANGE}`).pluck();
  }

  latest(deviceKey: number, fieldKeys: number[]): LatestRow[] {
    const found: LatestRow[] = [];
    for (const fieldKey of new Set(fieldKeys)) {
      const row = this.#latest.get(deviceKey, fieldKey);
      if (row) found.push({ fieldKey, timestamp: row[0], value: row[1] });
    }
    return found;
  }

  range(query: RangeQuery): PackedColumns {
    const statement = query.newestFirst ? this.#newestFirst : this.#oldestFirst;
    const { deviceKey, fieldKey, from = -Infinity, to = Infinity, limit } = query;
    const rows = statement.all(deviceKey, fieldKey, from, to, limit);
    const timestamps = new Float64Array(rows.length);
    const numbers = new Float64Array(rows.length);
    let onlyNumbers = true;
    for (let i = 0; i < rows.length; i++) {
      const [timestamp, value] = rows[i]!;
      timestamps[i] = timestamp;
      if (typeof value === 'number') numbers[i] = value;
      else onlyNumbers = false;
    }
    return { timestamps, values: onlyNumbers ? numbers : rows.map((row) => row[1]) };
  }

  lastHeard(deviceKeys: number[]): [number, number][] {
    const heard: [number, number][] = [];
    for (const key of deviceKeys) {
      const at = this.#lastHeard.get(key);
      if (at !== undefined) heard.push([key, at]);
    }
    return heard;
  }

  count(query: RemoveQuery): number {
    let count = 0;
    for (const fieldKey of new Set(query.fieldKeys))
      count += this.#count.get(query.deviceKey, fieldKey, query.from, query.to) ?? 0;
    return count;
  }

  calls(query: CallQuery): CallRow[] {
    const { sql, values } = callSelect(query, () => '?');
    return this.#db
      .prepare<(number | string)[], SqliteCallRecord>(sql)
      .all(...values)
      .map((row) => toCallRow(row, row.body, row.body_truncated === 1));
  }

  countCalls(filter: CallFilter): number {
    const { sql, values } = callCount(filter, () => '?');
    return (
      this.#db
        .prepare<(string | number)[], number>(sql)
        .pluck()
        .get(...values) ?? 0
    );
  }

  call(productKey: number, id: string): CallRow | null {
    const row = this.#db
      .prepare<[number, string], SqliteCallRecord>(`${CALL_SELECT} WHERE product_key = ? AND id = ?`)
      .get(productKey, id);
    return row ? toCallRow(row, row.body, row.body_truncated === 1) : null;
  }

  /** Reads from the file: SELECT 1 would not. */
  ping(): void {
    this.#db.pragma('schema_version');
  }
}

interface SqliteCallRecord extends CallRecord {
  body: string;
  body_truncated: number;
}

import type Sqlite from 'better-sqlite3';
import {
  type CallCount,
  type CallQuery,
  type CallRow,
  type DeviceKeys,
  NOT_HEARD,
} from '../../../domain/ports/store.ts';
import {
  type OthersRow,
  othersOf,
  CALL_COLUMNS,
  callCount,
  type CallRecord,
  callSelect,
  toCallCount,
  toCallRow,
} from '../../call-columns.ts';
import { dueSelect, type DueQuery } from '../../compactor.ts';
import type { PurgeRow } from '../../purger.ts';
import type { IntakeView } from './intake-view.ts';
import { must } from '../../../must.ts';

const CALL_SELECT = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call`;

/** What is read of the store's smaller tables, over a connection that only reads. */
export class SqliteReader {
  readonly #db: Sqlite.Database;
  readonly #lastHeard: Sqlite.Statement<[number], number>;
  readonly #intake: IntakeView;

  constructor(db: Sqlite.Database, intake: IntakeView) {
    this.#db = db;
    this.#intake = intake;
    this.#lastHeard = db
      .prepare<[number], number>('SELECT last_heard_at FROM device_state WHERE device_key = ? AND last_heard_at > 0')
      .pluck();
  }

  lastHeard(deviceKeys: number[]): [number, number][] {
    const heard: [number, number][] = [];
    for (const key of deviceKeys) {
      const at = Math.max(this.#lastHeard.get(key) ?? NOT_HEARD, this.#intake.heardAt(key) ?? NOT_HEARD);
      if (at > NOT_HEARD) heard.push([key, at]);
    }
    return heard;
  }

  others(keys: readonly DeviceKeys[]): number[][] {
    const select = this.#db.prepare<[number, string], OthersRow>(
      `SELECT device_key AS deviceKey, field_key AS fieldKey, ts, others FROM shared_value
       WHERE device_key = ? AND ts IN (SELECT value FROM json_each(?))`,
    );
    const rows = keys.flatMap(({ deviceKey, timestamps }) => select.all(deviceKey, JSON.stringify(timestamps)));
    return othersOf(keys, rows);
  }

  due({ after, storedBefore, overdueBefore, atLeast, limit }: DueQuery): number[] {
    const select = this.#db.prepare<number[], number>(dueSelect(() => '?')).pluck();
    return select.all(after, storedBefore, atLeast, overdueBefore, limit);
  }

  purges(handsOver: boolean, after: number, limit: number): PurgeRow[] {
    return this.#db
      .prepare<[number, number], PurgeRow>(
        `SELECT id, device_key AS deviceKey, field_key AS fieldKey, into_device_key AS intoDeviceKey, into_field_key AS intoFieldKey FROM purge
         WHERE id > ? AND into_device_key IS ${handsOver ? 'NOT ' : ''}NULL ORDER BY id LIMIT ?`,
      )
      .all(after, limit);
  }

  lastPurge(): number {
    return must(this.#db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM purge').pluck().get());
  }

  calls(query: CallQuery): CallRow[] {
    const { sql, values } = callSelect(query, () => '?');
    return this.#db
      .prepare<(number | string)[], SqliteCallRecord>(sql)
      .all(...values)
      .map((row) => toCallRow(row, row.body, row.body_truncated === 1));
  }

  countCalls(query: CallQuery): CallCount {
    const { sql, values } = callCount(query, () => '?');
    return toCallCount(this.#db.prepare<(string | number)[], CallCount>(sql).get(...values));
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

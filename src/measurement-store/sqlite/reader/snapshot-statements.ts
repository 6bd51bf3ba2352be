import type Sqlite from 'better-sqlite3';
import { joined } from './in-one-piece.ts';
import { LENGTH, PACKED, type RawChunk, type RawNewest, type RawReading, type RawRecorded, SMALL } from './raw-rows.ts';

/** Chunks of numbers are never larger; a thousand of texts would be more than belongs into one piece. */
const MAX_DENSE_BYTES = 16_384;

/** The statements of a snapshot, prepared for one connection. */
export class SnapshotStatements {
  readonly readings: Record<'asc' | 'desc', Sqlite.Statement<number[], RawReading>>;
  readonly newestReadings: Sqlite.Statement<number[], RawNewest>;
  readonly manyReadings: Record<'asc' | 'desc', Sqlite.Statement<number[], [Buffer | null, string | null, number]>>;
  readonly oldReadings: Sqlite.Statement<number[], [storedAt: number, ...RawReading]>;
  readonly countSince: Sqlite.Statement<[number, number], number>;
  readonly partSince: Sqlite.Statement<[number, number], number>;
  readonly committedSince: Sqlite.Statement<number[], RawReading>;
  readonly position: Sqlite.Statement<[], number>;
  readonly horizon: Sqlite.Statement<[], number>;
  readonly lastSeq: Sqlite.Statement<[], number>;
  readonly recorded: Record<'ofAny' | 'ofSome', Sqlite.Statement<(number | string)[], RawRecorded>>;
  readonly chunks: Record<'asc' | 'desc', Sqlite.Statement<number[], RawChunk>>;
  readonly manyChunks: Record<'asc' | 'desc', Sqlite.Statement<number[], [Buffer | null, string | null]>>;
  readonly chunkBytes: Sqlite.Statement<number[], Buffer>;
  readonly denseChunks: Sqlite.Statement<number[], [Buffer | null, string | null]>;
  readonly newestChunks: Sqlite.Statement<[string, number], [fieldKey: number, ...RawChunk]>;
  readonly nextField: Sqlite.Statement<number[], number>;

  constructor(db: Sqlite.Database) {
    const readingsSelect = (columns: string, order: string): string =>
      `SELECT ts, seq, ${columns} FROM reading WHERE device_key = ? AND ts >= ? AND ts < ? ORDER BY ts ${order} LIMIT ?`;
    const readings = (order: string): Sqlite.Statement<number[], RawReading> =>
      db.prepare<number[], RawReading>(readingsSelect(PACKED, order)).raw();
    this.readings = { asc: readings('ASC'), desc: readings('DESC') };
    this.newestReadings = db
      .prepare<number[], RawNewest>(
        `SELECT ts, seq, ${SMALL}, NULL, NULL FROM reading WHERE device_key = ? ORDER BY ts DESC LIMIT ?`,
      )
      .raw();
    const manyReadings = (order: string): Sqlite.Statement<number[], [Buffer | null, string | null, number]> =>
      db
        .prepare<number[], [Buffer | null, string | null, number]>(
          `SELECT ${joined(SMALL)},
             group_concat(ts || ',' || seq || ',' || length(packed)), coalesce(max(${LENGTH}), 0)
           FROM (${readingsSelect('packed, has_parts', order)})`,
        )
        .raw();
    this.manyReadings = { asc: manyReadings('ASC'), desc: manyReadings('DESC') };
    this.oldReadings = db
      .prepare<number[], [storedAt: number, ...RawReading]>(
        `SELECT stored_at, ts, seq, ${PACKED} FROM reading WHERE device_key = ? AND stored_at < ? AND ts >= ? ORDER BY ts LIMIT ?`,
      )
      .raw();
    this.countSince = db
      .prepare<[number, number], number>('SELECT count(*) FROM (SELECT 1 FROM reading WHERE seq > ? LIMIT ?)')
      .pluck();
    this.partSince = db
      .prepare<[number, number], number>('SELECT seq FROM reading WHERE seq > ? ORDER BY seq LIMIT 1 OFFSET ?')
      .pluck();
    this.committedSince = db
      .prepare<number[], RawReading>(
        `SELECT reading.ts, seq, ${PACKED} FROM
           (SELECT ts FROM reading WHERE seq > ? AND seq <= ? AND +device_key = ? AND ts < ? ORDER BY ts DESC LIMIT ?) AS since
         CROSS JOIN reading WHERE reading.device_key = ? AND reading.ts = since.ts`,
      )
      .raw();
    this.horizon = db.prepare<[], number>('SELECT seq FROM live_horizon').pluck();
    this.position = db
      .prepare<[], number>(
        'SELECT max((SELECT coalesce(max(seq), 0) FROM reading), (SELECT max(seq, last_flush) FROM live_horizon))',
      )
      .pluck();
    this.lastSeq = db.prepare<[], number>('SELECT max(seq) FROM device_state').pluck();
    const recorded = (condition: string): Sqlite.Statement<(number | string)[], RawRecorded> =>
      db
        .prepare<(number | string)[], RawRecorded>(
          `SELECT seq, device_key, ts, stored_at, ${PACKED} FROM reading
           WHERE seq <= ? AND seq < ? AND stored_at > 0 AND (seq, device_key, ts) > (?, ?, ?) ${condition} ORDER BY seq, device_key, ts LIMIT ?`,
        )
        .raw();
    this.recorded = {
      ofAny: recorded(''),
      // By the order of commits: a device may have years of readings.
      ofSome: recorded('AND +device_key IN (SELECT value FROM json_each(?))'),
    };
    const headsSelect = (order: string): string =>
      `SELECT first_at, last_at, count, summary FROM chunk
       WHERE device_key = ? AND field_key = ? AND first_at >= ? AND first_at < ? AND last_at >= ?
       ORDER BY first_at ${order} LIMIT ?`;
    const chunks = (order: string): Sqlite.Statement<number[], RawChunk> =>
      db.prepare<number[], RawChunk>(headsSelect(order)).raw();
    this.chunks = { asc: chunks('ASC'), desc: chunks('DESC') };
    const manyChunks = (order: string): Sqlite.Statement<number[], [Buffer | null, string | null]> =>
      db
        .prepare<number[], [Buffer | null, string | null]>(
          `SELECT ${joined('summary')}, group_concat(first_at || ',' || last_at || ',' || count || ',' || (summary IS NULL))
           FROM (${headsSelect(order)})`,
        )
        .raw();
    this.manyChunks = { asc: manyChunks('ASC'), desc: manyChunks('DESC') };
    this.chunkBytes = db
      .prepare<number[], Buffer>('SELECT packed FROM chunk WHERE device_key = ? AND field_key = ? AND first_at = ?')
      .pluck();
    this.denseChunks = db
      .prepare<number[], [Buffer | null, string | null]>(
        `SELECT ${joined('packed')}, group_concat(first_at || ',' || length(packed)) FROM chunk
         WHERE device_key = ? AND field_key = ? AND first_at BETWEEN ? AND ? AND length(packed) <= ${MAX_DENSE_BYTES}`,
      )
      .raw();
    // One statement for all fields of a device: one for each took most of the time of a list with latest values.
    this.newestChunks = db
      .prepare<[string, number], [fieldKey: number, ...RawChunk]>(
        `SELECT f.value, c.first_at, c.last_at, c.count, c.summary FROM json_each(?) AS f CROSS JOIN chunk AS c
         WHERE c.rowid = (SELECT n.rowid FROM chunk AS n WHERE n.device_key = ? AND n.field_key = f.value
           ORDER BY n.first_at DESC LIMIT 1)`,
      )
      .raw();
    this.nextField = db
      .prepare<number[], number>(
        'SELECT field_key FROM chunk WHERE device_key = ? AND field_key > ? ORDER BY field_key LIMIT 1',
      )
      .pluck();
  }
}

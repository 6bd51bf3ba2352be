import type Sqlite from 'better-sqlite3';
import type { LatestQuery, RecordedQuery } from '../../../domain/measurements/store.ts';
import type {
  ChunkHead,
  ChunkRange,
  Newest,
  OldReading,
  OldReadings,
  ReadingRange,
  ReadingRow,
  RecordedRow,
  Snapshot,
} from '../../chunks/snapshot.ts';
import { unpackSummary } from '../../chunks/summary-bytes.ts';
import type { IntakeView, Place } from './intake-view.ts';

type RawReading = [timestamp: number, seq: number, values: Buffer];
type RawRecorded = [seq: number, deviceKey: number, timestamp: number, storedAt: number, values: Buffer];
type RawChunk = [firstAt: number, lastAt: number, count: number, summary: Buffer | null];

/** The number of a flush. */
const POSITION = /^\d{1,15}$/;

/**
 * The statements of a snapshot on SQLite. They answer at once, so work that waits for nothing else is done before the
 * thread turns to anything other: it needs no more than a transaction around it, and the intake's view of it.
 */
export class SqliteSnapshot implements Snapshot {
  readonly #readings: Record<'asc' | 'desc', Sqlite.Statement<number[], RawReading>>;
  readonly #oldReadings: Sqlite.Statement<number[], [...RawReading, storedAt: number]>;
  readonly #position: Sqlite.Statement<[], number>;
  readonly #horizon: Sqlite.Statement<[], number>;
  readonly #lastSeq: Sqlite.Statement<[], number>;
  readonly #recorded: Record<'ofAny' | 'ofSome', Sqlite.Statement<(number | string)[], RawRecorded>>;
  readonly #chunks: Record<'asc' | 'desc', Sqlite.Statement<number[], RawChunk>>;
  readonly #chunkBytes: Sqlite.Statement<number[], Buffer>;
  readonly #newestChunks: Sqlite.Statement<[string, number], [fieldKey: number, ...RawChunk]>;
  readonly #nextField: Sqlite.Statement<number[], number>;
  readonly #intake: IntakeView;

  constructor(db: Sqlite.Database, intake: IntakeView) {
    this.#intake = intake;
    const readings = (order: string): Sqlite.Statement<number[], RawReading> =>
      db
        .prepare<number[], RawReading>(
          `SELECT ts, seq, packed FROM reading WHERE device_key = ? AND ts >= ? AND ts < ? ORDER BY ts ${order} LIMIT ?`,
        )
        .raw();
    this.#readings = { asc: readings('ASC'), desc: readings('DESC') };
    this.#oldReadings = db
      .prepare<number[], [...RawReading, storedAt: number]>(
        'SELECT ts, seq, packed, stored_at FROM reading WHERE device_key = ? AND stored_at < ? AND ts >= ? ORDER BY ts LIMIT ?',
      )
      .raw();
    this.#horizon = db.prepare<[], number>('SELECT seq FROM live_horizon').pluck();
    this.#position = db
      .prepare<[], number>('SELECT max((SELECT coalesce(max(seq), 0) FROM reading), (SELECT seq FROM live_horizon))')
      .pluck();
    this.#lastSeq = db.prepare<[], number>('SELECT max(seq) FROM device_state').pluck();
    const recorded = (condition: string): Sqlite.Statement<(number | string)[], RawRecorded> =>
      db
        .prepare<(number | string)[], RawRecorded>(
          `SELECT seq, device_key, ts, stored_at, packed FROM reading
           WHERE seq <= ? AND seq < ? AND stored_at > 0 AND (seq, device_key, ts) > (?, ?, ?) ${condition} ORDER BY seq, device_key, ts LIMIT ?`,
        )
        .raw();
    this.#recorded = {
      ofAny: recorded(''),
      // By the order of commits: a device may have years of readings.
      ofSome: recorded('AND +device_key IN (SELECT value FROM json_each(?))'),
    };
    const chunks = (order: string): Sqlite.Statement<number[], RawChunk> =>
      db
        .prepare<number[], RawChunk>(
          `SELECT first_at, last_at, count, summary FROM chunk
           WHERE device_key = ? AND field_key = ? AND first_at >= ? AND first_at < ? AND last_at >= ?
           ORDER BY first_at ${order} LIMIT ?`,
        )
        .raw();
    this.#chunks = { asc: chunks('ASC'), desc: chunks('DESC') };
    this.#chunkBytes = db
      .prepare<number[], Buffer>('SELECT packed FROM chunk WHERE device_key = ? AND field_key = ? AND first_at = ?')
      .pluck();
    // One statement for all fields of a device: one for each took most of the time of a list with latest values.
    this.#newestChunks = db
      .prepare<[string, number], [fieldKey: number, ...RawChunk]>(
        `SELECT f.value, c.first_at, c.last_at, c.count, c.summary FROM json_each(?) AS f CROSS JOIN chunk AS c
         WHERE c.rowid = (SELECT n.rowid FROM chunk AS n WHERE n.device_key = ? AND n.field_key = f.value
           ORDER BY n.first_at DESC LIMIT 1)`,
      )
      .raw();
    this.#nextField = db
      .prepare<number[], number>(
        'SELECT field_key FROM chunk WHERE device_key = ? AND field_key > ? ORDER BY field_key LIMIT 1',
      )
      .pluck();
  }

  readings(range: ReadingRange): Promise<ReadingRow[]> {
    const { deviceKey, from, to, newestFirst, limit } = range;
    const rows = this.#readings[newestFirst ? 'desc' : 'asc'].all(deviceKey, from, to, limit);
    return Promise.resolve(this.#intake.over(rows.map(toReading), range));
  }

  /** Of those that are sorted in. */
  oldReadings(deviceKey: number, { storedBefore, from, limit }: OldReadings): Promise<OldReading[]> {
    const rows = this.#oldReadings.all(deviceKey, storedBefore, from, limit);
    return Promise.resolve(
      rows.map(([timestamp, seq, values, storedAt]) => ({ timestamp, seq, values, isLive: storedAt > 0 })),
    );
  }

  /** The number of the last flush. */
  position(): Promise<string> {
    return Promise.resolve(String(this.#lastFlush()));
  }

  async recorded({ after, upTo, place, deviceKeys, limit }: RecordedQuery & { upTo: string }): Promise<RecordedRow[]> {
    if (!POSITION.test(after) || !POSITION.test(upTo)) return [];
    const from: Place = place ? [Number(place.seq), place.deviceKey, place.timestamp] : [Number(after), Infinity, 0];
    const bounds = [Number(upTo), Math.min(this.#intake.first, Number.MAX_SAFE_INTEGER), ...from];
    const sortedIn =
      deviceKeys === null
        ? this.#recorded.ofAny.all(...bounds, limit)
        : this.#recorded.ofSome.all(...bounds, JSON.stringify(deviceKeys), limit);
    const rows: RecordedRow[] = sortedIn.map(([seq, deviceKey, timestamp, storedAt, values]) => ({
      seq: String(seq),
      deviceKey,
      timestamp,
      storedAt,
      values,
    }));
    for (const row of this.#intake.recorded(deviceKeys, from, Number(upTo), limit - rows.length)) {
      const { deviceKey, timestamp } = row;
      const moment = { deviceKey, from: timestamp, to: timestamp + 1, newestFirst: false, limit: 1 };
      const [whole] = await this.readings(moment);
      rows.push({ ...row, values: whole!.values });
    }
    return rows;
  }

  isKept(position: string): Promise<boolean> {
    const seq = POSITION.test(position) ? Number(position) : Infinity;
    if (seq < (this.#horizon.get() ?? 0)) return Promise.resolve(false);
    // Readings of the last flush may have been deleted: what the devices sent says how far flushes have come.
    return Promise.resolve(seq <= this.#lastFlush() || seq <= (this.#lastSeq.get() ?? 0));
  }

  #lastFlush(): number {
    return Math.max(this.#position.get() ?? 0, this.#intake.last);
  }

  chunks({ deviceKey, fieldKey, from, to, newestFirst, limit }: ChunkRange): Promise<ChunkHead[]> {
    // Chunks never overlap: only the last one that begins before `from` may reach into the range.
    const owner = this.#chunks.desc.get(deviceKey, fieldKey, -Infinity, from, -Infinity, 1);
    const firstAt = owner && owner[1] >= from ? owner[0] : from;
    const rows = this.#chunks[newestFirst ? 'desc' : 'asc'].all(deviceKey, fieldKey, firstAt, to, from, limit);
    return Promise.resolve(rows.map(toHead));
  }

  newest(queries: readonly LatestQuery[], readings: number): Promise<Newest[]> {
    const all = { from: -Infinity, to: Infinity, newestFirst: true, limit: readings };
    return Promise.all(
      queries.map(async ({ deviceKey, fieldKeys }) => ({
        chunks: await this.newestChunks(deviceKey, fieldKeys),
        readings: await this.readings({ deviceKey, ...all }),
      })),
    );
  }

  newestChunks(deviceKey: number, fieldKeys: number[]): Promise<Map<number, ChunkHead>> {
    const rows = this.#newestChunks.all(JSON.stringify(fieldKeys), deviceKey);
    return Promise.resolve(new Map(rows.map(([fieldKey, ...head]) => [fieldKey, toHead(head)])));
  }

  chunkBytes(deviceKey: number, fieldKey: number, firstAts: number[]): Promise<Uint8Array[]> {
    return Promise.resolve(firstAts.map((firstAt) => this.#chunkBytes.get(deviceKey, fieldKey, firstAt)!));
  }

  chunkFields(deviceKey: number): Promise<number[]> {
    const fields: number[] = [];
    for (let key = this.#nextField.get(deviceKey, -1); key !== undefined; key = this.#nextField.get(deviceKey, key))
      fields.push(key);
    return Promise.resolve(fields);
  }
}

function toReading([timestamp, seq, values]: RawReading): ReadingRow {
  return { timestamp, seq, values };
}

function toHead([firstAt, lastAt, count, summary]: RawChunk): ChunkHead {
  return { firstAt, lastAt, count, summary: summary && unpackSummary(summary) };
}

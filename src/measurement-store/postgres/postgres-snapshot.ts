import type pg from 'pg';
import type { LatestQuery, RecordedQuery } from '../../domain/ports/store.ts';
import type {
  ChunkHead,
  ChunkRange,
  CommittedSince,
  Newest,
  OldReading,
  OldReadings,
  ReadingRange,
  ReadingRow,
  Recorded,
  Snapshot,
} from '../chunks/snapshot.ts';
import { fitting, COMMITTED_A_PAGE, type Page, PAGE_BYTES } from '../chunks/page.ts';
import { unpackSummary } from '../chunks/summary-bytes.ts';
import { copyOut } from './copy-out.ts';
import { FIRST_HISTORY } from './first-history.ts';
import { LARGE_READINGS, type LargeReading, putValues, type Sized, sizedValues, type Whole } from './large-readings.ts';
import { readPosition, writePosition } from './postgres-position.ts';
import { HISTORY, POSITION, recordedSelect } from './recorded-select.ts';
import { toBigint } from './to-bigint.ts';
import { must } from '../../must.ts';

/** Of large values there is only the size. */
type RawReading = [timestamp: number, seq: string, values: Buffer | null, size: number];
type RawRecorded = [
  seq: string,
  deviceKey: number,
  timestamp: number,
  storedAt: number,
  values: Buffer | null,
  size: number,
];
type NoRecorded = [seq: null, ...unknown[]];
type RawChunk = [firstAt: number, lastAt: number, count: number, summary: Buffer | null];

/** From so many on it pays not to prepare the statement. */
const MANY = 8;
/** From so many on a page of readings comes so, of about so many bytes. */
const MANY_READINGS = 100;
const READINGS_BYTES = 131_072;
/** A page of heads, and a chunk of a thousand values with two decimals and their times, as `COPY` gives them. */
const HEADS_BYTES = 65_536;
const CHUNK_BYTES = 1_500;
const HEAD = 'first_at, last_at, count, summary';
const PACKED = sizedValues('reading');
/** Whoever wants them asks page by page. */
const LATER: Page<ReadingRow> = { rows: [], isLast: false };

/** The statements of a snapshot on PostgreSQL, over a connection whose transaction the caller has begun. */
export class PostgresSnapshot implements Snapshot {
  readonly #client: pg.ClientBase;
  /** Positions behind which there is too much to be looked through, of any device: so much at least. */
  readonly #muchSince = new Map<string, number>();
  #closed = false;

  constructor(client: pg.ClientBase) {
    this.#client = client;
  }

  /** From now on every statement is refused: parts of a job that go on after its failure must not reach the next one's. */
  close(): void {
    this.#closed = true;
  }

  async readings({ deviceKey, from, to, newestFirst, limit }: ReadingRange): Promise<Page<ReadingRow>> {
    const order = newestFirst ? 'DESC' : 'ASC';
    const values = [deviceKey, toBigint(from), toBigint(to), limit];
    if (limit >= MANY_READINGS)
      return this.#page(await this.#manyReadings(readingsSelect(order, values.map(integer))), limit, deviceKey);
    const select = readingsSelect(order, ['$1', '$2', '$3', '$4']);
    const rows = await this.#rows<RawReading>(`inlet-readings-${order}`, select, values);
    return this.#page(rows.map(toReading), limit, deviceKey);
  }

  #manyReadings(select: string): Promise<(Omit<ReadingRow, 'values'> & Sized)[]> {
    return copyOut(this.#open(), select, READINGS_BYTES, (row) =>
      toReading([row.bigint(), String(row.bigint()), row.bytes(), row.int()]),
    );
  }

  async oldReadings(deviceKey: number, { storedBefore, from, limit, bytes }: OldReadings): Promise<Page<OldReading>> {
    const rows = await this.#rows<[...RawReading, isLive: boolean]>(
      'inlet-old-readings',
      `SELECT ts, seq, ${PACKED}, stored_at > 0 FROM reading
       WHERE device_key = $1 AND stored_at < $2 AND ts >= $3 ORDER BY ts LIMIT $4`,
      [deviceKey, toBigint(storedBefore), toBigint(from), limit],
    );
    const sized = rows.map(([timestamp, seq, values, size, isLive]) => ({ timestamp, seq, values, size, isLive }));
    return this.#page(sized, limit, deviceKey, bytes);
  }

  /** The thread waits for the database meanwhile, and answers others. */
  partSince(): Promise<null> {
    return Promise.resolve(null);
  }

  async committedSince({ deviceKey, position, to, most }: CommittedSince): Promise<Page<ReadingRow> | null> {
    const snapshot = readPosition(position)?.snapshot;
    if (snapshot === undefined || (this.#muchSince.get(position) ?? 0) >= most) return null;
    const rows = await this.#rows<[tooMuch: boolean, ...RawReading]>(
      'inlet-committed-since',
      // What was in progress by name: from the oldest of it on, one that lasts would make everything new.
      `WITH since AS MATERIALIZED (
         (SELECT device_key, ts FROM reading WHERE seq >= pg_snapshot_xmax($1::pg_snapshot) ORDER BY seq LIMIT $4)
         UNION ALL (SELECT device_key, ts FROM reading
           WHERE seq = ANY(ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot))) LIMIT $4)
         LIMIT $4)
       SELECT (SELECT count(*) FROM since) = $4
           OR pg_snapshot_xmax($1::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()), of_device.*
       FROM (SELECT) AS one LEFT JOIN (
         SELECT changed.* FROM
           (SELECT ts FROM since WHERE device_key = $2 AND ts < $3 ORDER BY ts DESC LIMIT $5) AS of_page
         CROSS JOIN LATERAL (
           SELECT ts, seq, ${PACKED} FROM reading WHERE device_key = $2 AND reading.ts = of_page.ts OFFSET 0) AS changed
         ) AS of_device ON true
       ORDER BY ts DESC`,
      [snapshot, deviceKey, toBigint(to), most, COMMITTED_A_PAGE],
    );
    if (must(rows[0])[0]) {
      this.#muchSince.set(position, most);
      return null;
    }
    const found = rows.filter(([, timestamp]) => timestamp !== null).map(([, ...reading]) => toReading(reading));
    return this.#page(found, COMMITTED_A_PAGE, deviceKey);
  }

  async position(): Promise<string> {
    const text = `SELECT ${POSITION}::text, ${HISTORY}`;
    const [row] = await this.#rows<[snapshot: string, history: string]>('inlet-position', text, []);
    return writePosition(...must(row));
  }

  /**
   * In the order of transaction ids: those that committed meanwhile are told apart by the two snapshots. All in one
   * statement: a node that is followed asks this dozens of times a second. A position is kept when everything up to the
   * horizon that has ended by now had ended when it was taken, and it was taken of this database.
   */
  async recorded({ after, upTo, place, deviceKeys, limit }: RecordedQuery): Promise<Recorded> {
    const since = readPosition(after);
    const until = upTo === null ? null : readPosition(upTo);
    if (since === null || (until === null && upTo !== null))
      return { rows: [], isLast: true, upTo: after, isKept: false };
    const from = place ?? { seq: '0', deviceKey: 0, timestamp: 0 };
    const found = await this.#rows<
      [upTo: string, history: string, isKept: boolean | null, ...(RawRecorded | NoRecorded)]
    >(
      deviceKeys === null ? 'inlet-recorded' : 'inlet-recorded-of',
      recordedSelect(sizedValues('found'), deviceKeys !== null),
      [
        since.snapshot,
        until && until.snapshot,
        from.seq,
        from.deviceKey,
        from.timestamp,
        limit,
        ...(deviceKeys === null ? [] : [deviceKeys]),
      ],
    );
    const [end, history, isKept] = must(found[0]);
    const positions = until === null ? [since] : [since, until];
    const first = positions.some((position) => position.history === null) ? await this.#firstHistory() : null;
    const isOfThis = positions.every((position) => (position.history ?? first) === history);
    const rows = found.flatMap(([, , , ...row]) => (row[0] === null ? [] : [toRecorded(row)]));
    return {
      ...(await this.#page(rows, limit)),
      upTo: writePosition(end, history),
      isKept: isOfThis && isKept === true,
    };
  }

  async #firstHistory(): Promise<string | null> {
    const rows = await this.#rows<[history: string]>('inlet-first-history', FIRST_HISTORY, []);
    return rows[0]?.[0] ?? null;
  }

  async chunks({ deviceKey, fieldKey, from, to, newestFirst, limit }: ChunkRange): Promise<ChunkHead[]> {
    const order = newestFirst ? 'DESC' : 'ASC';
    const values = [deviceKey, fieldKey, toBigint(from), toBigint(to), limit];
    if (limit >= MANY)
      return copyOut(this.#open(), headsSelect(order, values.map(integer)), HEADS_BYTES, (row) =>
        toHead([row.bigint(), row.bigint(), row.int(), row.bytes()]),
      );
    const select = headsSelect(order, ['$1', '$2', '$3', '$4', '$5']);
    return (await this.#rows<RawChunk>(`inlet-chunks-${order}`, select, values)).map(toHead);
  }

  async newest(queries: readonly LatestQuery[], readings: number): Promise<Newest[]> {
    const [chunks, rows] = await Promise.all([
      this.#newestChunks(queries),
      this.#rows<[at: number, ...RawReading]>(
        'inlet-newest-readings',
        `SELECT wanted.at::int4 - 1, newest.* FROM unnest($1::int4[]) WITH ORDINALITY AS wanted (device_key, at)
         CROSS JOIN LATERAL (SELECT ts, seq, ${PACKED} FROM reading WHERE device_key = wanted.device_key
           ORDER BY ts DESC LIMIT $2) AS newest
         ORDER BY wanted.at, newest.ts DESC`,
        [queries.map(({ deviceKey }) => deviceKey), readings],
      ),
    ]);
    const found = Map.groupBy(rows, ([at]) => at);
    return chunks.map((ofQuery, at): Newest => {
      const ofDevice = (found.get(at) ?? []).map(([, ...reading]) => toReading(reading));
      const isWhole = ofDevice.every(isFetched);
      return { chunks: ofQuery, readings: isWhole ? { rows: ofDevice, isLast: ofDevice.length < readings } : LATER };
    });
  }

  async newestChunks(deviceKey: number, fieldKeys: number[]): Promise<Map<number, ChunkHead>> {
    return must((await this.#newestChunks([{ deviceKey, fieldKeys }]))[0]);
  }

  async chunkBytes(deviceKey: number, fieldKey: number, firstAts: number[], among = Infinity): Promise<Uint8Array[]> {
    if (firstAts.length === 0) return [];
    if (firstAts.length >= MANY && among <= firstAts.length * 2)
      return this.#denseChunks(deviceKey, fieldKey, firstAts);
    const rows = await this.#rows<[number, Buffer]>(
      'inlet-chunk-bytes',
      'SELECT first_at, packed FROM chunk WHERE device_key = $1 AND field_key = $2 AND first_at = ANY($3::int8[])',
      [deviceKey, fieldKey, firstAts],
    );
    const found = new Map(rows);
    return firstAts.map((firstAt) => must(found.get(firstAt)));
  }

  async chunkFields(deviceKey: number): Promise<number[]> {
    const rows = await this.#rows<[number]>(
      'inlet-chunk-fields',
      `WITH RECURSIVE fields AS (
         SELECT min(field_key) AS key FROM chunk WHERE device_key = $1
         UNION ALL
         SELECT (SELECT min(field_key) FROM chunk WHERE device_key = $1 AND field_key > fields.key) FROM fields
         WHERE fields.key IS NOT NULL)
       SELECT key FROM fields WHERE key IS NOT NULL ORDER BY key`,
      [deviceKey],
    );
    return rows.map(([key]) => key);
  }

  /** The rows of which there may be `limit`, large values fetched, as far as they fit; of one device, or each of its own. */
  async #page<Row extends Sized>(
    rows: Row[],
    limit: number,
    ofDevice = 0,
    bytes = PAGE_BYTES,
  ): Promise<Page<Whole<Row>>> {
    const end = fitting(
      rows.map(({ size }) => size),
      bytes,
    );
    const isLast = end === rows.length && rows.length < limit;
    rows.length = end;
    const large = rows.filter((row) => row.values === null);
    if (large.length > 0) {
      const found = await this.#rows<LargeReading>('inlet-large-readings', LARGE_READINGS, [
        large.map(({ deviceKey }) => deviceKey ?? ofDevice),
        large.map(({ timestamp }) => timestamp),
      ]);
      putValues(large, found, ofDevice);
    }
    return { rows: rows as Whole<Row>[], isLast };
  }

  /** In one piece, with those in between. */
  async #denseChunks(deviceKey: number, fieldKey: number, firstAts: number[]): Promise<Uint8Array[]> {
    const [first, last] = [Math.min(...firstAts), Math.max(...firstAts)];
    const rows = await copyOut(
      this.#open(),
      `SELECT first_at, packed FROM chunk
       WHERE device_key = ${integer(deviceKey)} AND field_key = ${integer(fieldKey)}
         AND first_at BETWEEN ${integer(first)} AND ${integer(last)}`,
      firstAts.length * CHUNK_BYTES,
      (row): [number, Buffer] => [row.bigint(), must(row.bytes())],
    );
    const found = new Map(rows);
    return firstAts.map((firstAt) => must(found.get(firstAt)));
  }

  async #newestChunks(queries: readonly LatestQuery[]): Promise<Map<number, ChunkHead>[]> {
    const wanted = queries.flatMap(({ deviceKey, fieldKeys }, at) => fieldKeys.map((key) => [at, deviceKey, key]));
    const column = (which: 0 | 1 | 2): number[] => wanted.map((row) => must(row[which]));
    const rows = await this.#rows<[at: number, fieldKey: number, ...RawChunk]>(
      'inlet-newest-chunks',
      `SELECT wanted.at, field_key, ${HEAD} FROM unnest($1::int4[], $2::int4[], $3::int4[])
         AS wanted (at, device_key, field_key) CROSS JOIN LATERAL (
         SELECT ${HEAD} FROM chunk WHERE device_key = wanted.device_key AND field_key = wanted.field_key
         ORDER BY first_at DESC LIMIT 1) AS newest`,
      [column(0), column(1), column(2)],
    );
    const newest = queries.map(() => new Map<number, ChunkHead>());
    for (const [at, fieldKey, ...head] of rows) must(newest[at]).set(fieldKey, toHead(head));
    return newest;
  }

  #open(): pg.ClientBase {
    if (this.#closed) throw new Error('the snapshot is closed');
    return this.#client;
  }

  async #rows<Row extends unknown[]>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#open().query<Row>({ name, text, values, rowMode: 'array' } as pg.QueryArrayConfig))
      .rows as Row[];
  }
}

function readingsSelect(order: 'ASC' | 'DESC', [deviceKey, from, to, limit]: string[]): string {
  return `SELECT ts, seq, ${PACKED} FROM reading WHERE device_key = ${deviceKey} AND ts >= ${from} AND ts < ${to}
    ORDER BY ts ${order} LIMIT ${limit}`;
}

/** Chunks never overlap: only the last one that begins before `from` may reach into the range. */
function headsSelect(order: 'ASC' | 'DESC', values: string[]): string {
  const [deviceKey, fieldKey, from, to, limit] = values;
  const ofField = `device_key = ${deviceKey} AND field_key = ${fieldKey}`;
  return `SELECT ${HEAD} FROM chunk WHERE ${ofField} AND first_at < ${to} AND last_at >= ${from}
       AND first_at >= coalesce((SELECT max(first_at) FROM chunk WHERE ${ofField} AND first_at < ${from}), ${from})
     ORDER BY first_at ${order} LIMIT ${limit}`;
}

/** Into the text of a statement. */
function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new RangeError(`not a whole number: ${value}`);
  return String(value);
}

function toReading([timestamp, seq, values, size]: RawReading): Omit<ReadingRow, 'values'> & Sized {
  return { timestamp, seq, values, size };
}

function toRecorded([seq, deviceKey, timestamp, storedAt, values, size]: RawRecorded) {
  return { seq, deviceKey, timestamp, storedAt, values, size };
}

function isFetched<Row extends Sized>(row: Row): row is Row & { values: Buffer } {
  return row.values !== null;
}

function toHead([firstAt, lastAt, count, summary]: RawChunk): ChunkHead {
  return { firstAt, lastAt, count, summary: summary && unpackSummary(summary) };
}

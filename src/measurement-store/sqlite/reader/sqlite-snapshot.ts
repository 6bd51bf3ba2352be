import type Sqlite from 'better-sqlite3';
import type { LatestQuery, RecordedQuery } from '../../../domain/ports/store.ts';
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
  RecordedRow,
  Snapshot,
} from '../../chunks/snapshot.ts';
import { yieldToEventLoop } from '../../../scheduling/yield-to-event-loop.ts';
import { LARGE_BYTES, COMMITTED_A_PAGE, COMMITTED_A_PART, type Page, PAGE_BYTES } from '../../chunks/page.ts';
import { numbers, toHeads, toReadings } from './in-one-piece.ts';
import type { IntakeView, Place } from './intake-view.ts';
import { isSmall, pageOf, toHead, toOldReading, toReading, toRecorded } from './raw-rows.ts';
import { SnapshotStatements } from './snapshot-statements.ts';
import { must } from '../../../must.ts';

/**
 * From so many rows on their bytes come in one piece: a Buffer for each takes as long as all else (measured, 526 chunks of
 * a year: heads 0.9 ms, in one piece 0.4; their bytes 2.4, in one piece 1.3).
 */
const MANY = 8;
/** The same of readings, which are smaller (measured, a million of them: 0.9 s, in one piece 0.35). */
const MANY_READINGS = 100;
/** The number of a flush. */
const POSITION = /^\d{1,15}$/;

/** After so long others of the thread have their turn, before the next page. */
const TURN_MS = 5;

/**
 * The statements of a snapshot on SQLite, over a connection in a transaction, and the intake's view of it. They answer at
 * once; those that bring pages let the thread turn to other work in between.
 */
export class SqliteSnapshot implements Snapshot {
  readonly #sql: SnapshotStatements;
  readonly #intake: IntakeView;
  #turnBegan = 0;
  /** Behind this flush there was less than `most`, up to that one. */
  #fewSince = { flush: -1, after: 0, most: 0 };

  constructor(db: Sqlite.Database, intake: IntakeView) {
    this.#sql = new SnapshotStatements(db);
    this.#intake = intake;
  }

  async readings(range: ReadingRange): Promise<Page<ReadingRow>> {
    if (range.limit >= MANY_READINGS) await this.#turn();
    return this.#intake.over(this.#sortedIn(range), range);
  }

  #sortedIn({ deviceKey, from, to, newestFirst, limit }: ReadingRange): Page<ReadingRow> {
    const order = newestFirst ? 'desc' : 'asc';
    if (limit >= MANY_READINGS) {
      const [values, columns, largest] = must(this.#sql.manyReadings[order].get(deviceKey, from, to, limit));
      if (largest <= LARGE_BYTES) {
        const rows = toReadings(values, numbers(columns));
        return { rows, isLast: rows.length < limit };
      }
    }
    return pageOf(this.#sql.readings[order].iterate(deviceKey, from, to, limit), limit, toReading);
  }

  /** Of those that are sorted in. */
  oldReadings(deviceKey: number, { storedBefore, from, limit, bytes }: OldReadings): Promise<Page<OldReading>> {
    const rows = this.#sql.oldReadings.iterate(deviceKey, storedBefore, from, limit);
    return Promise.resolve(pageOf(rows, limit, toOldReading, bytes));
  }

  partSince(position: string): Promise<string | null> {
    const end = this.#sql.partSince.get(Number(position), COMMITTED_A_PART);
    // Amid what is being sorted in no part ends: a moment of it that was written again since would be looked at in none, as
    // the next slice may find it in its place, under the earlier number.
    return Promise.resolve(end === undefined || end >= this.#intake.first ? null : String(end));
  }

  async committedSince({ deviceKey, position, upTo, to, most }: CommittedSince): Promise<Page<ReadingRow> | null> {
    await this.#turn();
    const [after, last] = [Number(position), upTo === null ? Number.MAX_SAFE_INTEGER : Number(upTo)];
    if (this.#isMuchSince(after, most)) return null;
    const sortedIn = this.#sql.committedSince.iterate(after, last, deviceKey, to, COMMITTED_A_PAGE, deviceKey);
    const page = pageOf(sortedIn, COMMITTED_A_PAGE, toReading);
    const end = page.isLast ? -Infinity : must(page.rows.at(-1)).timestamp;
    const waiting = this.#intake.committedSince(deviceKey, after, last, end, to);
    // What is not sorted in yet is the newer of the two at its time.
    const rows = [...waiting, ...page.rows].sort((a, b) => b.timestamp - a.timestamp);
    return { rows, isLast: page.isLast };
  }

  /** Counted once for all pages and parts; what is sorted in meanwhile was looked through before, too. */
  #isMuchSince(after: number, most: number): boolean {
    const flush = this.#lastFlush();
    // A position that another lane took later says nothing of what is seen here.
    if (after > flush) return true;
    const few = this.#fewSince;
    if (flush === few.flush && after >= few.after && most >= few.most) return false;
    if (must(this.#sql.countSince.get(after, most)) >= most) return true;
    this.#fewSince = { flush, after, most };
    return false;
  }

  /** The number of the last flush. */
  position(): Promise<string> {
    return Promise.resolve(String(this.#lastFlush()));
  }

  async recorded(query: RecordedQuery): Promise<Recorded> {
    const upTo = query.upTo ?? String(this.#lastFlush());
    const isKept = POSITION.test(upTo) && this.#isKept(query.after);
    const page = isKept ? await this.#recordedUpTo(Number(upTo), query) : { rows: [], isLast: true };
    return { ...page, upTo, isKept };
  }

  async #recordedUpTo(upTo: number, { after, place, deviceKeys, limit }: RecordedQuery): Promise<Page<RecordedRow>> {
    const from: Place = place ? [Number(place.seq), place.deviceKey, place.timestamp] : [Number(after), Infinity, 0];
    const bounds = [upTo, Math.min(this.#intake.first, Number.MAX_SAFE_INTEGER), ...from];
    const sortedIn =
      deviceKeys === null
        ? this.#sql.recorded.ofAny.iterate(...bounds, limit)
        : this.#sql.recorded.ofSome.iterate(...bounds, JSON.stringify(deviceKeys), limit);
    const page = pageOf(sortedIn, limit, toRecorded);
    if (!page.isLast) return page;
    const { rows } = page;
    let bytes = 0;
    for (const row of this.#intake.recorded(deviceKeys, from, upTo, limit - rows.length)) {
      const { deviceKey, timestamp } = row;
      const moment = { deviceKey, from: timestamp, to: timestamp + 1, newestFirst: false, limit: 1 };
      const whole = await this.readings(moment);
      const { values } = must(whole.rows[0]);
      rows.push({ ...row, values });
      bytes += values.length;
      if (bytes > PAGE_BYTES) return { rows, isLast: false };
    }
    return { rows, isLast: rows.length < limit };
  }

  #isKept(position: string): boolean {
    const seq = POSITION.test(position) ? Number(position) : Infinity;
    if (seq < (this.#sql.horizon.get() ?? 0)) return false;
    // Readings of the last flush may have been deleted: what the devices sent says how far flushes have come.
    return seq <= Math.max(this.#lastFlush(), this.#intake.lastSeen) || seq <= (this.#sql.lastSeq.get() ?? 0);
  }

  #lastFlush(): number {
    return Math.max(this.#sql.position.get() ?? 0, this.#intake.last);
  }

  chunks({ deviceKey, fieldKey, from, to, newestFirst, limit }: ChunkRange): Promise<ChunkHead[]> {
    // Chunks never overlap: only the last one that begins before `from` may reach into the range.
    const owner = this.#sql.chunks.desc.get(deviceKey, fieldKey, -Infinity, from, -Infinity, 1);
    const firstAt = owner && owner[1] >= from ? owner[0] : from;
    const order = newestFirst ? 'desc' : 'asc';
    const values = [deviceKey, fieldKey, firstAt, to, from, limit];
    if (limit < MANY) return Promise.resolve(this.#sql.chunks[order].all(...values).map(toHead));
    const [summaries, columns] = must(this.#sql.manyChunks[order].get(...values));
    return Promise.resolve(toHeads(summaries, numbers(columns)));
  }

  async newest(queries: readonly LatestQuery[], readings: number): Promise<Newest[]> {
    const all = { from: -Infinity, to: Infinity, newestFirst: true, limit: readings };
    const found: Newest[] = [];
    // One device may be asked for under many lists of fields.
    const ofDevices = new Map<number, Page<ReadingRow>>();
    for (const { deviceKey, fieldKeys } of queries) {
      if (found.length > 0) await this.#turn();
      const ofDevice = ofDevices.get(deviceKey) ?? this.#newestOf({ deviceKey, ...all });
      ofDevices.set(deviceKey, ofDevice);
      found.push({ chunks: await this.newestChunks(deviceKey, fieldKeys), readings: ofDevice });
    }
    return found;
  }

  newestChunks(deviceKey: number, fieldKeys: number[]): Promise<Map<number, ChunkHead>> {
    const rows = this.#sql.newestChunks.all(JSON.stringify(fieldKeys), deviceKey);
    return Promise.resolve(new Map(rows.map(([fieldKey, ...head]) => [fieldKey, toHead(head)])));
  }

  async chunkBytes(deviceKey: number, fieldKey: number, firstAts: number[], among = Infinity): Promise<Uint8Array[]> {
    if (firstAts.length >= MANY) await this.#turn();
    const isDense = firstAts.length >= MANY && among <= firstAts.length * 2;
    const dense = isDense ? this.#between(deviceKey, fieldKey, firstAts) : undefined;
    return firstAts.map(
      (firstAt) => dense?.get(firstAt) ?? must(this.#sql.chunkBytes.get(deviceKey, fieldKey, firstAt)),
    );
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#turnBegan < TURN_MS) return;
    await yieldToEventLoop();
    this.#turnBegan = performance.now();
  }

  /** Those of many devices are in memory at once: none where one of them is large. */
  #newestOf(range: ReadingRange): Page<ReadingRow> {
    const rows = this.#sql.newestReadings.all(range.deviceKey, range.limit);
    if (!rows.every(isSmall)) return { rows: [], isLast: false };
    return this.#intake.over({ rows: rows.map(toReading), isLast: rows.length < range.limit }, range);
  }

  /** By `firstAt`, with those in between, without the largest. */
  #between(deviceKey: number, fieldKey: number, firstAts: number[]): Map<number, Uint8Array> {
    const [bytes, columns] = must(
      this.#sql.denseChunks.get(deviceKey, fieldKey, Math.min(...firstAts), Math.max(...firstAts)),
    );
    const found = new Map<number, Uint8Array>();
    const sizes = numbers(columns);
    for (let i = 0, at = 0; i < sizes.length; i += 2) {
      found.set(must(sizes[i]), must(bytes).subarray(at, at + must(sizes[i + 1])));
      at += must(sizes[i + 1]);
    }
    return found;
  }

  chunkFields(deviceKey: number): Promise<number[]> {
    const fields: number[] = [];
    for (
      let key = this.#sql.nextField.get(deviceKey, -1);
      key !== undefined;
      key = this.#sql.nextField.get(deviceKey, key)
    )
      fields.push(key);
    return Promise.resolve(fields);
  }
}

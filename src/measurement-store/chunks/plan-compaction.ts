import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import { decode } from './codec.ts';
import { indexAt } from '../../domain/history/index-at.ts';
import { mergeColumns, sliceColumns, toColumns } from './columns.ts';
import { areForOwnChunks, CHUNK_VALUES, cutChunks } from './cut-chunks.ts';
import { type Change, type Edit, emptyChange, type Plan } from './edit.ts';
import type { ChunkHead, OldReading, Seq, Snapshot, ReadingRow } from './snapshot.ts';
import { must } from '../../must.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import { eachValue } from '../readings/reading-values.ts';

/** Maximum readings per slice: keeps the transaction that writes them at a few milliseconds. */
const READINGS_A_SLICE = 1_000;
/** Maximum bytes per slice, a chunk of long texts and one reading more: the next slice need not open it again. */
const BYTES_A_SLICE = 200_000;
/** Maximum chunks opened and written anew per slice: late values and corrections may each fall into another one. */
const CHUNKS_A_SLICE = 50;
/** Minimum of these per field: where many fields' chunks end at different times, slices would be too small. */
const CHUNKS_OF_FIELD = 4;

/**
 * Moves some of a device's old readings into chunks: behind the newest ones, or, if they are late, into those that they
 * fall in. Where a chunk has a value at the same time, the reading's takes its place.
 */
export async function planCompaction(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Extract<Edit, { kind: 'compact' }>,
): Promise<Plan> {
  const { storedBefore, readingsFrom } = edit;
  // PostgreSQL would look through the rows that earlier slices removed, again and again.
  const which = { storedBefore, from: readingsFrom, limit: READINGS_A_SLICE, bytes: BYTES_A_SLICE };
  const old = await snapshot.oldReadings(deviceKey, which);
  const all = allColumns(old.rows);
  const newest = await snapshot.newestChunks(deviceKey, [...all.keys()]);
  const end = await endOfSlice(snapshot, deviceKey, all, newest);
  const readings = old.rows.filter(({ timestamp }) => timestamp < end);
  const isLast = old.isLast && readings.length === old.rows.length;
  const change = emptyChange(deviceKey);
  change.readings = readings.map(({ timestamp, seq }) => ({ timestamp, seq, values: null }));
  change.movedUpTo = latestSeq(readings.filter(({ isLive }) => isLive));
  const fields = end === Infinity ? all : allColumns(readings);
  for (const [fieldKey, columns] of fields)
    await addToChunks(snapshot, change, fieldKey, columns, newest.get(fieldKey));
  return { change, next: isLast ? null : { ...edit, readingsFrom: must(readings.at(-1)).timestamp + 1 } };
}

/** The time before which readings fall into no more chunks than a slice opens. */
async function endOfSlice(
  snapshot: Snapshot,
  deviceKey: number,
  fields: ReadonlyMap<number, SegmentColumns>,
  newest: ReadonlyMap<number, ChunkHead>,
): Promise<number> {
  const ofField = Math.max(CHUNKS_OF_FIELD, Math.floor(CHUNKS_A_SLICE / fields.size));
  let end = Infinity;
  for (const [fieldKey, { timestamps }] of fields) {
    const from = must(timestamps[0]);
    const newestAt = newest.get(fieldKey)?.lastAt;
    if (newestAt === undefined || newestAt < from) continue;
    const to = Math.min(must(timestamps.at(-1)) + 1, end);
    const over = { deviceKey, fieldKey, from, to, newestFirst: false, limit: ofField + 1 };
    const heads = await snapshot.chunks(over);
    if (heads.length > ofField) end = must(heads.at(-1)).firstAt;
  }
  return end;
}

async function addToChunks(
  snapshot: Snapshot,
  change: Change,
  fieldKey: number,
  columns: SegmentColumns,
  newest: ChunkHead | undefined,
): Promise<void> {
  const { timestamps } = columns;
  const place = { deviceKey: change.deviceKey, fieldKey };
  for (let start = 0; start < timestamps.length;) {
    let { owner, next } = await neighbours(snapshot, place, must(timestamps[start]), newest);
    if (!owner && next && next.count < CHUNK_VALUES) {
      // Before the first chunk, which has room.
      owner = next;
      next = await after(snapshot, place, owner, newest);
    }
    const end = next ? indexAt(timestamps, next.firstAt) : timestamps.length;
    const part = sliceColumns(columns, start, end);
    start = end;
    if (owner === undefined || goesBehind(part, owner, !next)) {
      change.chunksNew.push(...cutChunks(fieldKey, part, true));
      continue;
    }
    const [bytes] = await snapshot.chunkBytes(place.deviceKey, fieldKey, [owner.firstAt]);
    change.chunksGone.push({ fieldKey, firstAt: owner.firstAt });
    change.chunksNew.push(...cutChunks(fieldKey, mergeColumns(decode(must(bytes)), part), !next));
  }
}

/** Whether it becomes chunks of its own behind the chunk, instead of being merged into it. */
function goesBehind(part: SegmentColumns, { lastAt, count }: ChunkHead, isNewest: boolean): boolean {
  return must(part.timestamps[0]) > lastAt && (areForOwnChunks(part) || (isNewest && count >= CHUNK_VALUES));
}

interface Place {
  deviceKey: number;
  fieldKey: number;
}

/** The last chunk that begins at the time or before it, and the one behind that (or behind the time). */
async function neighbours(
  snapshot: Snapshot,
  place: Place,
  time: number,
  newest: ChunkHead | undefined,
): Promise<{ owner: ChunkHead | undefined; next: ChunkHead | undefined }> {
  if (!newest || newest.firstAt <= time) return { owner: newest, next: undefined };
  const before = { ...place, from: -Infinity, to: time + 1, newestFirst: true, limit: 1 };
  const [owner] = await snapshot.chunks(before);
  if (owner) return { owner, next: await after(snapshot, place, owner, newest) };
  const [next] = await snapshot.chunks({ ...place, from: time, to: Infinity, newestFirst: false, limit: 1 });
  return { owner, next };
}

async function after(
  snapshot: Snapshot,
  place: Place,
  chunk: ChunkHead,
  newest: ChunkHead | undefined,
): Promise<ChunkHead | undefined> {
  if (!newest || newest.firstAt <= chunk.firstAt) return undefined;
  const behind = { ...place, from: chunk.lastAt + 1, to: Infinity, newestFirst: false, limit: 1 };
  return (await snapshot.chunks(behind))[0];
}

function latestSeq(readings: readonly OldReading[]): Seq | null {
  let latest: Seq | null = null;
  // Transaction ids are texts of numbers that a double may not hold.
  for (const { seq } of readings) if (latest === null || BigInt(seq) > BigInt(latest)) latest = seq;
  return latest;
}

/** The values of all fields in readings that are in time order, by field. */
function allColumns(readings: ReadingRow[]): Map<number, SegmentColumns> {
  const fields = new Map<number, { timestamps: number[]; values: StoredValue[] }>();
  for (const { timestamp, values } of readings)
    eachValue(values, (fieldKey, value) => {
      let field = fields.get(fieldKey);
      if (!field) fields.set(fieldKey, (field = { timestamps: [], values: [] }));
      // The same field twice in one reading: the last one counts.
      if (field.timestamps.at(-1) === timestamp) field.values[field.values.length - 1] = value;
      else {
        field.timestamps.push(timestamp);
        field.values.push(value);
      }
    });
  return new Map([...fields].map(([key, { timestamps, values }]) => [key, toColumns(timestamps, values)]));
}

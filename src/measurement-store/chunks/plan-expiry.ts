import { fieldsOf, lastOfEach } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import { sliceColumns } from './columns.ts';
import { cutChunks } from './cut-chunks.ts';
import { type Change, type Edit, emptyChange, isEmpty, type Plan } from './edit.ts';
import { LatestMemory } from './latest-memory.ts';
import { latestSlice } from './latest-values.ts';
import { LONG_SLICE_MS, SearchSlice } from './search-slice.ts';
import type { Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

const READINGS_A_SLICE = 1_000;
const CHUNKS_A_SLICE = 200;

type Expiry = Extract<Edit, { kind: 'expire' }>;

/**
 * Drops whole chunks, then readings, that are older than `before`: in this order, wherever it ends early, no value
 * shows again that a reading had replaced. The newest value of each field stays, however old; a chunk that reaches over
 * `before` stays until all of it is older, and so do readings that correct it. Where the newest values are not found
 * within the slice, some of the older ones stay until the next time as well, and so do readings that go into chunks
 * meanwhile.
 */
export async function planExpiry(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Expiry,
  searchMs: number = LONG_SLICE_MS,
): Promise<Plan> {
  // A memory of its own: the parts of an edit may see different states of the database.
  const slice = new SearchSlice(new LatestMemory(), searchMs);
  if (edit.readingsFrom !== null)
    return ofReadings(snapshot, deviceKey, { ...edit, readingsFrom: edit.readingsFrom }, slice);
  const plan = await ofChunks(snapshot, deviceKey, edit, slice);
  return isEmpty(plan.change) ? planExpiry(snapshot, deviceKey, plan.next, searchMs) : plan;
}

async function ofReadings(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Expiry & { readingsFrom: number },
  slice: SearchSlice,
): Promise<Plan> {
  const change = emptyChange(deviceKey);
  const range = { deviceKey, from: edit.readingsFrom, to: edit.before, newestFirst: false, limit: READINGS_A_SLICE };
  const { rows: readings, isLast } = await snapshot.readings(range);
  const last = new Map<number, number>();
  for (const { timestamp, values } of readings) for (const fieldKey of fieldsOf(values)) last.set(fieldKey, timestamp);
  const newest = await newestTimes(snapshot, deviceKey, last, slice);
  const corrected = await stayingFrom(snapshot, deviceKey, last.keys(), edit.before);
  for (const { timestamp, seq, values } of readings) {
    const fields = fieldsOf(values);
    const stays = (fieldKey: number): boolean =>
      newest.get(fieldKey) === timestamp || timestamp >= (corrected.get(fieldKey) ?? Infinity);
    const left = lastOfEach(values, stays);
    const kept = fieldsOf(left).size;
    if (kept < fields.size) change.readings.push({ timestamp, seq, values: kept === 0 ? null : left });
  }
  return { change, next: isLast ? null : { ...edit, readingsFrom: must(readings.at(-1)).timestamp + 1 } };
}

async function ofChunks(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Expiry,
  slice: SearchSlice,
): Promise<{ change: Change; next: Expiry }> {
  const change = emptyChange(deviceKey);
  const fieldKeys = await snapshot.chunkFields(deviceKey);
  const heads = await snapshot.newestChunks(deviceKey, fieldKeys);
  const last = new Map([...heads].map(([fieldKey, { lastAt }]) => [fieldKey, lastAt]));
  const newest = await newestTimes(snapshot, deviceKey, last, slice);
  for (const fieldKey of fieldKeys) {
    const range = { deviceKey, fieldKey, from: -Infinity, to: edit.before, newestFirst: false, limit: CHUNKS_A_SLICE };
    for (const { firstAt, lastAt, count } of await snapshot.chunks(range)) {
      if (lastAt >= edit.before) continue;
      const hasNewest = lastAt === newest.get(fieldKey);
      if (hasNewest && count === 1) continue;
      change.chunksGone.push({ fieldKey, firstAt });
      if (!hasNewest) continue;
      const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [firstAt]);
      change.chunksNew.push(...cutChunks(fieldKey, sliceColumns(decode(must(bytes)), count - 1, count), true));
    }
    if (change.chunksGone.length >= CHUNKS_A_SLICE) return { change, next: edit };
  }
  return { change, next: { ...edit, readingsFrom: -Infinity } };
}

/** By field: the beginning of the chunk that reaches over `before`, if there is one. */
async function stayingFrom(
  snapshot: Snapshot,
  deviceKey: number,
  fieldKeys: Iterable<number>,
  before: number,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const fieldKey of fieldKeys) {
    const over = { deviceKey, fieldKey, from: before, to: before, newestFirst: false, limit: 1 };
    for (const { firstAt } of await snapshot.chunks(over)) found.set(fieldKey, firstAt);
  }
  return found;
}

/** Newest times by field; if not found within the slice, `last`: the last known ones, none of which is to go then. */
async function newestTimes(
  snapshot: Snapshot,
  deviceKey: number,
  last: Map<number, number>,
  slice: SearchSlice,
): Promise<Map<number, number>> {
  const { rows, left } = await latestSlice(snapshot, [{ deviceKey, fieldKeys: [...last.keys()] }], slice);
  return left.length > 0 ? last : new Map(rows.map((row) => [row.fieldKey, row.timestamp]));
}

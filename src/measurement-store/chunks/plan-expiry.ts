import { fieldsOf, lastOfEach } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import { sliceColumns } from './columns.ts';
import { cutChunks } from './cut-chunks.ts';
import { type Edit, emptyChange, type Plan } from './edit.ts';
import { latestValues } from './latest-values.ts';
import type { Snapshot } from './snapshot.ts';

const READINGS_A_SLICE = 1_000;
const CHUNKS_A_SLICE = 200;

type Expiry = Extract<Edit, { kind: 'expire' }>;

/**
 * Drops readings, then whole chunks, that are older than `before`. The newest value of each field stays, however old;
 * a chunk that reaches over `before` stays until all of it is older, and so do readings that correct it.
 */
export function planExpiry(snapshot: Snapshot, deviceKey: number, edit: Expiry): Promise<Plan> {
  return edit.readingsFrom === null
    ? ofChunks(snapshot, deviceKey, edit)
    : ofReadings(snapshot, deviceKey, edit, edit.readingsFrom);
}

async function ofReadings(snapshot: Snapshot, deviceKey: number, edit: Expiry, from: number): Promise<Plan> {
  const change = emptyChange(deviceKey);
  const range = { deviceKey, from, to: edit.before, newestFirst: false, limit: READINGS_A_SLICE };
  const { rows: readings, isLast } = await snapshot.readings(range);
  const fieldKeys = new Set(readings.flatMap((row) => [...fieldsOf(row.values)]));
  const newest = await newestTimes(snapshot, deviceKey, fieldKeys);
  const corrected = await stayingFrom(snapshot, deviceKey, fieldKeys, edit.before);
  for (const { timestamp, seq, values } of readings) {
    const fields = fieldsOf(values);
    const stays = (fieldKey: number): boolean =>
      newest.get(fieldKey) === timestamp || timestamp >= (corrected.get(fieldKey) ?? Infinity);
    const left = lastOfEach(values, stays);
    const kept = fieldsOf(left).size;
    if (kept < fields.size) change.readings.push({ timestamp, seq, values: kept === 0 ? null : left });
  }
  return { change, next: { ...edit, readingsFrom: isLast ? null : readings.at(-1)!.timestamp + 1 } };
}

async function ofChunks(snapshot: Snapshot, deviceKey: number, edit: Expiry): Promise<Plan> {
  const change = emptyChange(deviceKey);
  const fieldKeys = await snapshot.chunkFields(deviceKey);
  const newest = await newestTimes(snapshot, deviceKey, new Set(fieldKeys));
  for (const fieldKey of fieldKeys) {
    const range = { deviceKey, fieldKey, from: -Infinity, to: edit.before, newestFirst: false, limit: CHUNKS_A_SLICE };
    for (const { firstAt, lastAt, count } of await snapshot.chunks(range)) {
      if (lastAt >= edit.before) continue;
      const hasNewest = lastAt === newest.get(fieldKey);
      if (hasNewest && count === 1) continue;
      change.chunksGone.push({ fieldKey, firstAt });
      if (!hasNewest) continue;
      const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [firstAt]);
      change.chunksNew.push(...cutChunks(fieldKey, sliceColumns(decode(bytes!), count - 1, count), true));
    }
    if (change.chunksGone.length >= CHUNKS_A_SLICE) return { change, next: edit };
  }
  return { change, next: null };
}

/** By field: when the chunk begins that reaches over `before`, if there is one. */
async function stayingFrom(
  snapshot: Snapshot,
  deviceKey: number,
  fieldKeys: Set<number>,
  before: number,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const fieldKey of fieldKeys) {
    const over = { deviceKey, fieldKey, from: before, to: before, newestFirst: false, limit: 1 };
    for (const { firstAt } of await snapshot.chunks(over)) found.set(fieldKey, firstAt);
  }
  return found;
}

async function newestTimes(snapshot: Snapshot, deviceKey: number, fields: Set<number>): Promise<Map<number, number>> {
  const rows = await latestValues(snapshot, [{ deviceKey, fieldKeys: [...fields] }]);
  return new Map(rows.map((row) => [row.fieldKey, row.timestamp]));
}

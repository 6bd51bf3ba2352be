import type { RemoveQuery } from '../../domain/ports/store.ts';
import { fieldsOf } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import { indexAt } from '../../domain/history/index-at.ts';
import { readingPages } from './read-range.ts';
import type { ChunkHead, Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

const CHUNKS_A_PAGE = 1_000;
/** Maximum fields whose times of readings are in memory at once. */
const FIELDS_AT_ONCE = 5;

/** Counts the values of the fields in the range, each key once. */
export async function countValues(snapshot: Snapshot, query: RemoveQuery): Promise<number> {
  const fieldKeys = [...new Set(query.fieldKeys)];
  let count = 0;
  for (let at = 0; at < fieldKeys.length; at += FIELDS_AT_ONCE) {
    const times = await readingTimes(snapshot, { ...query, fieldKeys: fieldKeys.slice(at, at + FIELDS_AT_ONCE) });
    for (const [fieldKey, ofField] of times) count += await countField(snapshot, query, fieldKey, ofField);
  }
  return count;
}

/** `times`: of its readings. */
async function countField(
  snapshot: Snapshot,
  query: RemoveQuery,
  fieldKey: number,
  times: Float64Array,
): Promise<number> {
  const { deviceKey, to } = query;
  let count = times.length;
  for (let from = query.from; ;) {
    const heads = await snapshot.chunks({ deviceKey, fieldKey, from, to, newestFirst: false, limit: CHUNKS_A_PAGE });
    for (const head of heads) {
      const isWhole = head.firstAt >= query.from && head.lastAt < to;
      const overlaps = indexAt(times, head.firstAt) < indexAt(times, head.lastAt + 1);
      count += isWhole && !overlaps ? head.count : await countOthers(snapshot, query, fieldKey, head, times);
    }
    if (heads.length < CHUNKS_A_PAGE) return count;
    from = must(heads.at(-1)).lastAt + 1;
  }
}

/** Counts the chunk's values in the range that no reading replaces. */
async function countOthers(
  snapshot: Snapshot,
  { deviceKey, from, to }: RemoveQuery,
  fieldKey: number,
  head: ChunkHead,
  readings: Float64Array,
): Promise<number> {
  const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [head.firstAt]);
  const { timestamps } = decode(must(bytes));
  return timestamps.filter((time) => time >= from && time < to && readings[indexAt(readings, time)] !== time).length;
}

/** The times at which readings have the fields. */
async function readingTimes(snapshot: Snapshot, query: RemoveQuery): Promise<Map<number, Float64Array>> {
  const { deviceKey, from, to, fieldKeys } = query;
  const times = new Map(fieldKeys.map((key) => [key, [] as number[]]));
  for await (const page of readingPages(snapshot, { deviceKey, from, to, newestFirst: false }))
    for (const { timestamp, values } of page) for (const key of fieldsOf(values)) times.get(key)?.push(timestamp);
  return new Map([...times].map(([key, ofField]) => [key, Float64Array.from(ofField)]));
}

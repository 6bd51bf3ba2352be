import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import { encode } from './codec.ts';
import { sliceColumns } from './columns.ts';
import type { NewChunk } from './edit.ts';
import { must } from '../../must.ts';

/** Maximum values per chunk, and of texts about the maximum of characters. */
export const CHUNK_VALUES = 1_000;
const CHUNK_CHARACTERS = 256 * 1024;
/** Characters from which texts are compressed as well alone as behind others: deflate looks back 32 kB. */
const OWN_CHUNK_CHARACTERS = 64 * 1024;
/**
 * Rows up to the first size fit twice on a page of SQLite and four times on one of PostgreSQL; from the second on they
 * spread over pages that are full. What is in between would leave half a page empty.
 */
const HALF_PAGE_BYTES = 1_850;
const SPREADING_BYTES = 4_000;

/**
 * The columns as chunks in order. `filled`: all but the last one full, as what comes later goes behind them; else even
 * parts, so that each has room.
 */
export function cutChunks(fieldKey: number, columns: SegmentColumns, filled: boolean): NewChunk[] {
  const count = columns.timestamps.length;
  const parts = Math.ceil(count / CHUNK_VALUES);
  const most = filled || parts === 0 ? CHUNK_VALUES : Math.ceil(count / parts);
  const chunks: NewChunk[] = [];
  for (let start = 0; start < count;) {
    const chunk = cutOne(fieldKey, columns, start, Math.min(start + most, count));
    chunks.push(chunk);
    start += chunk.count;
  }
  return chunks;
}

/** One chunk of the rows from `start`, to `end` (exclusive) if they fit. */
function cutOne(fieldKey: number, columns: SegmentColumns, start: number, end: number): NewChunk {
  const { timestamps, values } = sliceColumns(columns, start, endOfPart(columns, start, end));
  const { bytes, summary } = encode(timestamps, values);
  const count = timestamps.length;
  const fitting = Math.floor((count * HALF_PAGE_BYTES) / bytes.length);
  if (bytes.length > HALF_PAGE_BYTES && bytes.length < SPREADING_BYTES && fitting > count / 4)
    return cutOne(fieldKey, columns, start, start + Math.max(1, fitting - 1));
  return { fieldKey, firstAt: must(timestamps[0]), lastAt: must(timestamps.at(-1)), count, summary, bytes };
}

/** Whether they are worth chunks of their own, even where the one before them has room. */
export function areForOwnChunks({ values }: SegmentColumns): boolean {
  if (values instanceof Float64Array) return false;
  let characters = 0;
  for (const value of values) if (typeof value === 'string') characters += value.length;
  return characters >= OWN_CHUNK_CHARACTERS;
}

function endOfPart(columns: SegmentColumns, start: number, end: number): number {
  if (columns.values instanceof Float64Array) return end;
  let characters = 0;
  for (let i = start; i < end; i++) {
    const value = must(columns.values[i]);
    if (typeof value === 'string') characters += value.length;
    if (characters > CHUNK_CHARACTERS && i > start) return i;
  }
  return end;
}

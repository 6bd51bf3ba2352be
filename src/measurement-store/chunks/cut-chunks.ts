import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import { encode } from './codec.ts';
import { sliceColumns } from './columns.ts';
import type { NewChunk } from './edit.ts';

/** A chunk has at most so many values, and texts of about so many characters at most. */
export const CHUNK_VALUES = 1_000;
const CHUNK_CHARACTERS = 256 * 1024;

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
    const end = endOfPart(columns, start, Math.min(start + most, count));
    const { timestamps, values } = sliceColumns(columns, start, end);
    const { bytes, summary } = encode(timestamps, values);
    const [firstAt, lastAt] = [timestamps[0]!, timestamps.at(-1)!];
    chunks.push({ fieldKey, firstAt, lastAt, count: end - start, summary, bytes });
    start = end;
  }
  return chunks;
}

function endOfPart(columns: SegmentColumns, start: number, end: number): number {
  if (columns.values instanceof Float64Array) return end;
  let characters = 0;
  for (let i = start; i < end; i++) {
    const value = columns.values[i]!;
    if (typeof value === 'string') characters += value.length;
    if (characters > CHUNK_CHARACTERS && i > start) return i;
  }
  return end;
}

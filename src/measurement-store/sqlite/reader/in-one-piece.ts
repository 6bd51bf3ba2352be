import { unpackSummary, SUMMARY_BYTES } from '../../chunks/summary-bytes.ts';
import type { ChunkHead, ReadingRow } from '../../chunks/snapshot.ts';
import { must } from '../../../must.ts';

/** Blobs one after the other: as text they are their bytes, whatever these are, and come back as such. NULL is left out. */
export function joined(column: string): string {
  return `CAST(group_concat(${column}, '') AS BLOB)`;
}

/** The numbers that `group_concat` joined. */
export function numbers(text: string | null): number[] {
  return text === null ? [] : (JSON.parse(`[${text}]`) as number[]);
}

/** `columns`: four numbers of each. */
export function toHeads(summaries: Buffer | null, columns: number[]): ChunkHead[] {
  const heads: ChunkHead[] = [];
  for (let i = 0, at = 0; i < columns.length; i += 4) {
    const isNull = columns[i + 3] === 1;
    const summary = isNull ? null : unpackSummary(must(summaries), at);
    if (!isNull) at += SUMMARY_BYTES;
    heads.push({ firstAt: must(columns[i]), lastAt: must(columns[i + 1]), count: must(columns[i + 2]), summary });
  }
  return heads;
}

/** `columns`: three numbers of each. */
export function toReadings(values: Buffer | null, columns: number[]): ReadingRow[] {
  const rows: ReadingRow[] = [];
  for (let i = 0, at = 0; i < columns.length; i += 3) {
    const end = at + must(columns[i + 2]);
    rows.push({ timestamp: must(columns[i]), seq: must(columns[i + 1]), values: must(values).subarray(at, end) });
    at = end;
  }
  return rows;
}

import { type Page, PAGE_BYTES } from '../../chunks/page.ts';
import type { ChunkHead, OldReading, ReadingRow, RecordedRow } from '../../chunks/snapshot.ts';
import { unpackSummary } from '../../chunks/summary-bytes.ts';

/** A reading as a statement gives it. */
export type RawReading = [timestamp: number, seq: number, values: Buffer];
/** A reading in the order of commits. */
export type RawRecorded = [seq: number, deviceKey: number, timestamp: number, storedAt: number, values: Buffer];
/** What a chunk says of itself. */
export type RawChunk = [firstAt: number, lastAt: number, count: number, summary: Buffer | null];

/** As far as they fit into a page: what comes behind is not read, as stepping over a large row is reading it. */
export function pageOf<Raw, Row extends { values: Buffer }>(
  raws: Iterable<Raw>,
  limit: number,
  toRow: (raw: Raw) => Row,
  most = PAGE_BYTES,
): Page<Row> {
  const rows: Row[] = [];
  let bytes = 0;
  for (const raw of raws) {
    const row = toRow(raw);
    rows.push(row);
    bytes += row.values.length;
    if (bytes > most) return { rows, isLast: false };
  }
  return { rows, isLast: rows.length < limit };
}

/** As it is answered. */
export function toReading([timestamp, seq, values]: RawReading): ReadingRow {
  return { timestamp, seq, values };
}

/** With where it stands in the order of commits. */
export function toOldReading([timestamp, seq, values, storedAt]: [...RawReading, storedAt: number]): OldReading {
  return { timestamp, seq, values, isLive: storedAt > 0 };
}

/** Its flush as text, as positions are. */
export function toRecorded([seq, deviceKey, timestamp, storedAt, values]: RawRecorded): RecordedRow {
  return { seq: String(seq), deviceKey, timestamp, storedAt, values };
}

/** Its summary unpacked. */
export function toHead([firstAt, lastAt, count, summary]: RawChunk): ChunkHead {
  return { firstAt, lastAt, count, summary: summary && unpackSummary(summary) };
}

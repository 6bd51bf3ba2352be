import { LARGE_BYTES, type Page, PAGE_BYTES } from '../../chunks/page.ts';
import type { ChunkHead, OldReading, ReadingRow, RecordedRow } from '../../chunks/snapshot.ts';
import { unpackSummary } from '../../chunks/summary-bytes.ts';
import { BASE, wholeReading } from '../../readings/reading-parts.ts';
import { joined } from './in-one-piece.ts';

/** Selects the bytes of a reading's values; a reading with parts counts as large. */
export const LENGTH = `iif(has_parts, ${LARGE_BYTES + 1}, length(packed))`;
/** Selects the values of a reading unless they are large; large ones are not even read. */
export const SMALL = `CASE WHEN ${LENGTH} <= ${LARGE_BYTES} THEN packed END`;
/** Selects the values of a row of the table `reading`, of its base, and its texts. */
export const PACKED = `packed, ${partsOf('packed', `= ${BASE}`)}, ${partsOf(joined('packed'), `<> ${BASE}`)}`;

type RawValues = [packed: Buffer, base: Buffer | null, texts: Buffer | null];
/** A reading among the newest; a large one has no values. */
export type RawNewest = [timestamp: number, seq: number, packed: Buffer | null, base: null, texts: null];
/** A reading as a statement gives it. */
export type RawReading = [timestamp: number, seq: number, ...RawValues];
/** A reading in the order of commits. */
export type RawRecorded = [seq: number, deviceKey: number, timestamp: number, storedAt: number, ...RawValues];
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

/** Tells whether the values are there. */
export function isSmall(row: RawNewest): row is RawReading & RawNewest {
  return row[2] !== null;
}

/** As it is answered. */
export function toReading([timestamp, seq, ...values]: RawReading): ReadingRow {
  return { timestamp, seq, values: wholeReading(...values) };
}

/** With where it stands in the order of commits. */
export function toOldReading([storedAt, ...reading]: [storedAt: number, ...RawReading]): OldReading {
  return { ...toReading(reading), isLive: storedAt > 0 };
}

/** Its flush as text, as positions are. */
export function toRecorded([seq, deviceKey, timestamp, storedAt, ...values]: RawRecorded): RecordedRow {
  return { seq: String(seq), deviceKey, timestamp, storedAt, values: wholeReading(...values) };
}

function partsOf(column: string, which: string): string {
  return `iif(has_parts, (SELECT ${column} FROM reading_part AS apart
    WHERE apart.device_key = reading.device_key AND apart.ts = reading.ts AND part ${which}), NULL)`;
}

/** Its summary unpacked. */
export function toHead([firstAt, lastAt, count, summary]: RawChunk): ChunkHead {
  return { firstAt, lastAt, count, summary: summary && unpackSummary(summary) };
}

import type { NumberSummary } from '../../domain/measurements/segment.ts';
import type { LatestQuery, RecordedQuery } from '../../domain/ports/store.ts';
import type { Page } from './page.ts';

/** Commit of a reading: SQLite the number of the flush, PostgreSQL the transaction id as text. */
export type Seq = number | string;

/** One moment of a device as it is stored; `values` as `readings/reading-values.ts` writes them. */
export interface ReadingRow {
  timestamp: number;
  seq: Seq;
  values: Buffer;
}

/** A reading that may go into chunks; `isLive`: it is in the order of commits. */
export interface OldReading extends ReadingRow {
  isLive: boolean;
}

/** Readings that were committed before then, or are none of the live values; `from` inclusive, may be infinite. */
export interface OldReadings {
  storedBefore: number;
  from: number;
  limit: number;
  /** Estimated maximum bytes, but at least one reading. */
  bytes: number;
}

/** A reading as the order of commits has it. */
export interface RecordedRow extends Omit<ReadingRow, 'seq'> {
  seq: string;
  deviceKey: number;
  storedAt: number;
}

/** Live values, and the positions that they lie between. */
export interface Recorded extends Page<RecordedRow> {
  /** The given position, or the current one in the order of commits. */
  upTo: string;
  /** Whether every reading committed after the first position is still a reading, and the position is one of ours. */
  isKept: boolean;
}

/** Head of a chunk, known without decoding. */
export interface ChunkHead {
  firstAt: number;
  lastAt: number;
  count: number;
  summary: NumberSummary | null;
}

/** Range of a device's readings. */
export interface ReadingRange {
  deviceKey: number;
  /** Inclusive / exclusive; may be infinite. */
  from: number;
  to: number;
  newestFirst: boolean;
  limit: number;
}

/** A device's readings before `to` that were committed after a position. */
export interface CommittedSince {
  deviceKey: number;
  position: string;
  /** And not after this one, of `partSince`. */
  upTo: string | null;
  /** Exclusive; may be infinite. */
  to: number;
  /** Commits of any device from which there are too many to look through. */
  most: number;
}

/** Range of a device's chunks. */
export interface ChunkRange {
  deviceKey: number;
  fieldKey: number;
  /** Chunks that reach into it: they begin before `to` and end at `from` or later. */
  from: number;
  to: number;
  newestFirst: boolean;
  limit: number;
}

/** The newest of a device: the newest chunk of each of the fields that have one, and readings from the newest back. */
export interface Newest {
  chunks: Map<number, ChunkHead>;
  /** Page without rows and not the last one, where one of them is large. */
  readings: Page<ReadingRow>;
}

/** The handful of statements that a dialect supplies. All of one snapshot see the same state of the database. */
export interface Snapshot {
  /** Readings of the range, in its order of time. */
  readings(range: ReadingRange): Promise<Page<ReadingRow>>;
  /** A device's readings from then on that may go into chunks, in order of time. */
  oldReadings(deviceKey: number, which: OldReadings): Promise<Page<OldReading>>;
  /** Position up to which commits since are looked through at once, in their order; null: all of them. */
  partSince(position: string): Promise<string | null>;
  /** Readings from the newest back, page by page; null: there are too many, of this device or of others. */
  committedSince(which: CommittedSince): Promise<Page<ReadingRow> | null>;
  /** The position behind everything that is committed by now (see `RecordedQuery`). */
  position(): Promise<string>;
  /** The live values in the order of commits, at most `limit`. */
  recorded(query: RecordedQuery): Promise<Recorded>;
  /** Heads of the range's chunks, in its order of time. */
  chunks(range: ChunkRange): Promise<ChunkHead[]>;
  /** Answers the queries in their order; at most `readings` each. */
  newest(queries: readonly LatestQuery[], readings: number): Promise<Newest[]>;
  /** The newest chunk of each of the fields that have one. */
  newestChunks(deviceKey: number, fieldKeys: number[]): Promise<Map<number, ChunkHead>>;
  /**
   * Of chunks that are there, in the order of `firstAts`; `among`: how many there are from the first to the last of
   * these.
   */
  chunkBytes(deviceKey: number, fieldKey: number, firstAts: number[], among?: number): Promise<Uint8Array[]>;
  /** The fields that have chunks. */
  chunkFields(deviceKey: number): Promise<number[]>;
}

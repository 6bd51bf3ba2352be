import type { NumberSummary } from '../../domain/measurements/segment.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import type { Seq } from './snapshot.ts';

/** A change of one device's stored measurements that is done slice by slice; only one at a time for a device. */
export type Edit =
  /** Moves readings that were committed before then into chunks. */
  | { kind: 'compact'; storedBefore: number; readingsFrom: number }
  /**
   * Removes values of these fields (null: of all) from `from` to `to` (exclusive): from readings, and then from chunks.
   * Readings committed after the position `upTo` stay (null: none). `first`: chunks of these fields (null: of all) come
   * before the readings as well, so that wherever it ends early, no value shows again that a reading had replaced; left
   * out: none do (any more).
   */
  | {
      kind: 'remove';
      fieldKeys: number[] | null;
      from: number;
      to: number;
      upTo: string | null;
      readingsFrom: number | null;
      first?: { fieldKeys: number[] | null };
    }
  /**
   * Removes values before then, but each field's newest one: from chunks (`readingsFrom`: null), then from readings.
   */
  | { kind: 'expire'; before: number; readingsFrom: number | null }
  /** Adds values of a field, in order of time, where the device has none; it was heard at that time, or later. */
  | { kind: 'fill'; fieldKey: number; heardAt: number; timestamps: number[]; values: StoredValue[] };

/** The edit that removes values of these fields (null: of all) from `from` to `to` (exclusive). */
export function removal(fieldKeys: number[] | null, from: number, to: number): Edit {
  return { kind: 'remove', fieldKeys, from, to, upTo: null, readingsFrom: from, first: { fieldKeys } };
}

/**
 * The edit that removes all values of a field (null: of all), which are not shown any more; readings committed after
 * the position stay (null: none).
 */
export function forgetting(fieldKey: number | null, upTo: string | null): Edit {
  const fieldKeys = fieldKey === null ? null : [fieldKey];
  return { kind: 'remove', fieldKeys, from: -Infinity, to: Infinity, upTo, readingsFrom: -Infinity };
}

/** The edit that drops values before then, but for the newest one of each field. */
export function expiry(before: number): Edit {
  return { kind: 'expire', before, readingsFrom: null };
}

/** The edit that moves readings that were committed before then into chunks. */
export function compaction(storedBefore: number): Edit {
  return { kind: 'compact', storedBefore, readingsFrom: -Infinity };
}

interface ReadingChange {
  timestamp: number;
  /** It is left alone if it was written again since. */
  seq: Seq;
  /** The values left of it; null: none. */
  values: Uint8Array | null;
}

/** A chunk to be written: its field, its first and last moment in ms, its bytes. */
export interface NewChunk {
  fieldKey: number;
  firstAt: number;
  lastAt: number;
  count: number;
  summary: NumberSummary | null;
  bytes: Uint8Array;
}

/** Changes of one slice of an edit, written in one transaction. */
export interface Change {
  deviceKey: number;
  /** The latest of the moved readings that are no longer in the order of commits; null: none. */
  movedUpTo: Seq | null;
  readings: ReadingChange[];
  /** A batch (`readings/reading-frames.ts`) whose values come under the ones that are there by then; null: none. */
  filled: Uint8Array | null;
  chunksGone: { fieldKey: number; firstAt: number }[];
  chunksNew: NewChunk[];
}

/** One slice of an edit: its change, and how the edit goes on. */
export interface Plan {
  change: Change;
  /** The rest of the edit; null: this was all. */
  next: Edit | null;
}

/** A change of the device that changes nothing yet. */
export function emptyChange(deviceKey: number): Change {
  return { deviceKey, movedUpTo: null, readings: [], filled: null, chunksGone: [], chunksNew: [] };
}

/** Whether there is nothing to write. */
export function isEmpty({ readings, filled, chunksGone, chunksNew }: Change): boolean {
  return readings.length === 0 && filled === null && chunksGone.length === 0 && chunksNew.length === 0;
}

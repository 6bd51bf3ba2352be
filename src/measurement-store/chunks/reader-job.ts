import type { SeriesRequest } from '../../domain/ports/series-request.ts';
import type {
  DeviceKeys,
  LatestQuery,
  LatestRow,
  RangeQuery,
  RecordedQuery,
  RemoveQuery,
  StoredValue,
  RecordedPage,
  RecordedReading,
} from '../../domain/ports/store.ts';
import { countValues } from './count-values.ts';
import { type LatestColumns, latestColumns } from './latest-columns.ts';
import type { LatestMemory } from './latest-memory.ts';
import { latestSlice } from './latest-values.ts';
import { readRange } from './read-range.ts';
import { readSeries } from './read-series.ts';
import { LONG_SLICE_MS, SearchSlice, SLICE_MS } from './search-slice.ts';
import type { SearchProgress } from './search-memory.ts';
import type { Snapshot, RecordedRow } from './snapshot.ts';
import { valuesAt } from './values-at.ts';
import { must } from '../../must.ts';
import { eachValue } from '../readings/reading-values.ts';

/** Reads that are done off the event loop, on both databases. */
export type ReaderJob =
  /** Answered with a LatestAnswer. */
  | { kind: 'latest'; queries: LatestQuery[]; progress?: SearchProgress | undefined }
  | { kind: 'range'; query: RangeQuery }
  | { kind: 'count'; query: RemoveQuery }
  /** Answered with the values of each device, in the order of its keys. */
  | { kind: 'valuesAt'; keys: readonly DeviceKeys[] }
  | { kind: 'series'; requests: readonly SeriesRequest[] }
  | { kind: 'position' }
  | { kind: 'recorded'; query: RecordedQuery };

/** Newest values of the devices that could be searched in one slice. */
export interface LatestAnswer {
  found: LatestColumns;
  /** The queries that are to be asked again, by their places. */
  left: number[];
  /** Progress of the search with these. */
  progress: SearchProgress;
  /** Milliseconds of searching. */
  searchedMs: number;
}

/** Maximum devices per short read of newest values. */
export const DEVICES_AT_ONCE = 50;

/** Whether it takes as long as there is something to read. */
export function isLongRead(job: { kind: string; queries?: unknown[] }): boolean {
  if (job.kind === 'latest') return (job.queries?.length ?? 0) > DEVICES_AT_ONCE;
  return job.kind === 'range' || job.kind === 'count' || job.kind === 'series' || job.kind === 'valuesAt';
}

/** Answers a job from one snapshot; `memory`: that of the thread. */
export function runReaderJob(snapshot: Snapshot, job: ReaderJob, memory: LatestMemory): Promise<unknown> {
  switch (job.kind) {
    case 'latest':
      return latestOfMany(
        snapshot,
        job.queries,
        new SearchSlice(memory, isLongRead(job) ? LONG_SLICE_MS : SLICE_MS, job.progress),
      );
    case 'range':
      return readRange(snapshot, job.query);
    case 'count':
      return countValues(snapshot, job.query);
    case 'valuesAt':
      return valuesOfEach(snapshot, job.keys);
    case 'series':
      return readSeries(snapshot, job.requests);
    case 'position':
      return snapshot.position();
    case 'recorded':
      return readRecorded(snapshot, job.query);
  }
}

async function valuesOfEach(snapshot: Snapshot, keys: readonly DeviceKeys[]): Promise<(StoredValue | undefined)[][]> {
  const all: (StoredValue | undefined)[][] = [];
  for (const one of keys) all.push(await valuesAt(snapshot, one));
  return all;
}

/** The part that one job has in a search. */
export async function latestOfMany(
  snapshot: Snapshot,
  queries: LatestQuery[],
  slice: SearchSlice,
): Promise<LatestAnswer> {
  const rows: LatestRow[] = [];
  const left: number[] = [];
  for (let from = 0; from < queries.length; from += DEVICES_AT_ONCE) {
    const some = await latestSlice(snapshot, queries.slice(from, from + DEVICES_AT_ONCE), slice);
    rows.push(...some.rows);
    left.push(...some.left.map((at) => from + at));
  }
  const progress = slice.memory.progress(left.map((at) => must(queries[at]).deviceKey));
  return { found: latestColumns(rows), left, progress, searchedMs: slice.searchedMs };
}

/** Levels of an answer: series → answer → views → view → column. */
const DEPTH = 5;

/** The memory of typed arrays in the answer, to change hands instead of being copied; each once. */
export function transferables(answer: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const collect = (value: unknown, depth: number): void => {
    if (ArrayBuffer.isView(value)) {
      // A view of a larger buffer would take all of it along.
      if (value.byteLength === value.buffer.byteLength) buffers.add(value.buffer as ArrayBuffer);
    } else if (depth > 0 && typeof value === 'object' && value !== null)
      for (const part of Object.values(value)) collect(part, depth - 1);
  };
  collect(answer, DEPTH);
  return [...buffers];
}

/** Readings recorded between two positions, decoded; `expired` when some of them may be in chunks by now. */
async function readRecorded(snapshot: Snapshot, query: RecordedQuery): Promise<RecordedPage> {
  const { upTo, isKept, rows, isLast } = await snapshot.recorded({ ...query, limit: query.limit + 1 });
  if (!isKept) return { expired: true, upTo, readings: [], complete: false, more: false };
  const complete = isLast && rows.length <= query.limit;
  return { expired: false, upTo, readings: rows.slice(0, query.limit).map(readingOf), complete, more: false };
}

/** A row of the order of commits with its values unpacked. */
export function readingOf({ seq, deviceKey, timestamp, storedAt, values: bytes }: RecordedRow): RecordedReading {
  const values = new Map<number, StoredValue>();
  // Written again within its moment: the last one counts.
  eachValue(bytes, (fieldKey, value) => values.set(fieldKey, value));
  return { seq, deviceKey, timestamp, storedAt, fieldKeys: [...values.keys()], values: [...values.values()] };
}

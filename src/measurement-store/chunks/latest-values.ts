import type { LatestQuery, LatestRow, StoredValue } from '../../domain/measurements/store.ts';
import { allDone } from './all-done.ts';
import { decode } from './codec.ts';
import {
  endOf,
  endOfAll,
  FIRST_PAGE,
  type Found,
  isOpen,
  lookedThrough,
  type Search,
  searchBack,
  takeFrom,
} from './search-back.ts';
import type { SearchSlice } from './search-slice.ts';
import type { ChunkHead, Newest, Snapshot } from './snapshot.ts';

/** Devices of which a page each is in memory, of four megabytes at worst. */
const AT_ONCE = 10;

/** What a slice has of newest values. */
interface LatestSlice {
  rows: LatestRow[];
  /** The queries that have no rows yet, by their places: the next slice goes on with them. */
  left: number[];
}

/**
 * The value with the latest time of each field of devices. Looks at readings from the newest back, until no field is
 * left that could have a newer value there than its newest chunk has.
 */
export async function latestValues(snapshot: Snapshot, queries: readonly LatestQuery[]): Promise<LatestRow[]> {
  return (await latestSlice(snapshot, queries)).rows;
}

/** As `latestValues`, of as many of the devices as the slice is long enough for. */
export async function latestSlice(
  snapshot: Snapshot,
  queries: readonly LatestQuery[],
  slice?: SearchSlice,
): Promise<LatestSlice> {
  const newest = await snapshot.newest(queries, FIRST_PAGE);
  const rows: LatestRow[] = [];
  const left: number[] = [];
  for (let from = 0; from < queries.length; from += AT_ONCE) {
    const some = queries.slice(from, from + AT_ONCE);
    const found = await allDone(some.map((query, i) => latestOfOne(snapshot, query, newest[from + i]!, slice)));
    for (const [i, ofDevice] of found.entries())
      if (ofDevice === null) left.push(from + i);
      else rows.push(...ofDevice);
  }
  return { rows, left };
}

/** null: there is more to be looked through. */
async function latestOfOne(
  snapshot: Snapshot,
  { deviceKey, fieldKeys }: LatestQuery,
  { chunks, readings }: Newest,
  slice: SearchSlice | undefined,
): Promise<LatestRow[] | null> {
  const from = (fieldKey: number): number => chunks.get(fieldKey)?.lastAt ?? -Infinity;
  const wanted = new Map(fieldKeys.map((fieldKey) => [fieldKey, { from: from(fieldKey), to: Infinity }]));
  const search = { deviceKey, wanted };
  const rows = takeFrom(search, readings.rows);
  lookedThrough(search, endOf(readings));
  if (isOpen(search)) {
    const found = slice ? await searchSlice(snapshot, search, slice) : await searchBack(snapshot, search, true);
    if (!found.isDone) return null;
    rows.push(...found.rows);
  }
  return [...rows, ...(await lastOfChunks(snapshot, search, chunks))];
}

/**
 * As `searchBack`, without what earlier slices and searches looked through: of that only what was committed since can be
 * newer. What this one looked through is remembered, if it was much.
 */
async function searchSlice(snapshot: Snapshot, search: Search, slice: SearchSlice): Promise<Found> {
  const { memory } = slice;
  // Others may clear it meanwhile.
  const { generation } = memory;
  if (!slice.begins()) return { rows: [], isDone: false, isFar: false };
  const fields = [...search.wanted];
  const since = await takeSince(snapshot, search, slice);
  const behind = await searchBack(snapshot, search, since === null, slice);
  const found = [...(since ?? []), ...behind.rows];
  if (since !== null || behind.isFar || !behind.isDone) {
    const position = await snapshot.position();
    const foundAt = new Map(found.map(({ fieldKey, timestamp }) => [fieldKey, timestamp]));
    for (const [fieldKey, { from, to }] of fields) {
      const upTo = foundAt.get(fieldKey) ?? Math.max(from, to - 1);
      memory.set(search.deviceKey, fieldKey, { position, upTo }, generation);
    }
  }
  return { ...behind, rows: found };
}

/** What was committed since the fields were last looked for; null: it is not known when that was, or too much. */
async function takeSince(snapshot: Snapshot, search: Search, { memory }: SearchSlice): Promise<LatestRow[] | null> {
  const { deviceKey, wanted } = search;
  const to = endOfAll(search);
  // Others may add to the memory meanwhile.
  const known = [...wanted.keys()].flatMap((fieldKey) => {
    const lookedThrough = memory.get(deviceKey, fieldKey);
    return lookedThrough ? [{ fieldKey, ...lookedThrough }] : [];
  });
  let rows: LatestRow[] | null = null;
  for (const [position, ofFields] of Map.groupBy(known, (one) => one.position)) {
    const since = await snapshot.committedSince({ deviceKey, position, to });
    if (!since.isLast) continue;
    const unseen = ofFields.map(({ fieldKey, upTo }) => {
      const stretch = wanted.get(fieldKey)!;
      stretch.to = Math.min(stretch.to, upTo + 1);
      return [fieldKey, { ...stretch, from: Math.max(stretch.from, upTo) }] as const;
    });
    const found = takeFrom({ deviceKey, wanted: new Map(unseen) }, since.rows);
    for (const { fieldKey } of found) wanted.delete(fieldKey);
    rows = [...(rows ?? []), ...found];
  }
  return rows;
}

/** Of the fields whose newest value is none of the readings. */
async function lastOfChunks(
  snapshot: Snapshot,
  { deviceKey, wanted }: Search,
  chunks: Map<number, ChunkHead>,
): Promise<LatestRow[]> {
  const rows: LatestRow[] = [];
  for (const fieldKey of wanted.keys()) {
    const chunk = chunks.get(fieldKey);
    if (!chunk) continue;
    const value = chunk.summary ? chunk.summary.last : await lastText(snapshot, deviceKey, fieldKey, chunk.firstAt);
    rows.push({ deviceKey, fieldKey, timestamp: chunk.lastAt, value });
  }
  return rows;
}

async function lastText(
  snapshot: Snapshot,
  deviceKey: number,
  fieldKey: number,
  firstAt: number,
): Promise<StoredValue> {
  const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [firstAt]);
  return decode(bytes!).values.at(-1)!;
}

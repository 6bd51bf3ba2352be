import type { LatestQuery, LatestRow, StoredValue } from '../../domain/ports/store.ts';
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
import type { ChunkHead, CommittedSince, Newest, Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

/** Maximum devices searched at once: a page of each is in memory, of four megabytes at worst. */
const AT_ONCE = 10;
/** The same in a long search: each device costs every slice a look at what was committed since. */
const AT_ONCE_FOR_LONG = 1;

/** Maximum commits to look through instead of all readings of a device. */
const MANY_COMMITTED = 20_000;
/** The same between two slices of one search: beginning anew with each would never come to the end. */
const MANY_WHILE_SEARCHED = 200_000;

/** Newest values that a slice found. */
interface LatestSlice {
  rows: LatestRow[];
  /** The queries that have no rows yet, by their places: the next slice goes on with them. */
  left: number[];
}

/**
 * The value with the latest time of each field, of as many devices as the slice is long enough for. Looks at readings
 * from the newest back, until no field is left that could have a newer value there than its newest chunk has.
 */
export async function latestSlice(
  snapshot: Snapshot,
  queries: readonly LatestQuery[],
  slice: SearchSlice,
): Promise<LatestSlice> {
  const newest = await snapshot.newest(queries, FIRST_PAGE);
  const rows: LatestRow[] = [];
  const left: number[] = [];
  const atOnce = slice.memory.goesOn ? AT_ONCE_FOR_LONG : AT_ONCE;
  for (let from = 0; from < queries.length; from += atOnce) {
    const some = queries.slice(from, from + atOnce);
    const found = await allDone(some.map((query, i) => latestOfOne(snapshot, query, must(newest[from + i]), slice)));
    for (const [i, ofDevice] of found.entries())
      if (ofDevice === null) left.push(from + i);
      else rows.push(...ofDevice);
  }
  return { rows, left };
}

/** null: there is more to be looked through. */
async function latestOfOne(
  snapshot: Snapshot,
  { deviceKey, fieldKeys, tenant }: LatestQuery,
  { chunks, readings }: Newest,
  slice: SearchSlice,
): Promise<LatestRow[] | null> {
  const from = (fieldKey: number): number => chunks.get(fieldKey)?.lastAt ?? -Infinity;
  const wanted = new Map(fieldKeys.map((fieldKey) => [fieldKey, { from: from(fieldKey), to: Infinity }]));
  const search = { deviceKey, tenant, wanted };
  const rows = takeFrom(search, readings.rows);
  lookedThrough(search, endOf(readings));
  if (isOpen(search)) {
    const found = await searchSlice(snapshot, search, slice);
    if (!found.isDone) return null;
    rows.push(...found.rows);
  }
  return [...rows, ...(await lastOfChunks(snapshot, search, chunks))];
}

/**
 * Like `searchBack`, without the stretches of earlier slices and searches: there only readings committed since can be
 * newer. Remembers the stretch of this one, if it was long.
 */
async function searchSlice(snapshot: Snapshot, search: Search, slice: SearchSlice): Promise<Found> {
  if (!slice.begins()) return { rows: [], isDone: false, isFar: false };
  const fields = [...search.wanted];
  const since = await takeSince(snapshot, search, slice);
  if (since === 'over') return { rows: [], isDone: false, isFar: false };
  const behind = await searchBack(snapshot, search, since === null, slice);
  const found = [...(since ?? []), ...behind.rows];
  if (since !== null || behind.isFar || !behind.isDone) {
    const position = await snapshot.position();
    const upTo = new Map(fields.map(([fieldKey, { from, to }]) => [fieldKey, Math.max(from, to - 1)]));
    for (const { fieldKey, timestamp } of found) upTo.set(fieldKey, timestamp);
    slice.memory.remember(search, position, upTo);
  }
  return { ...behind, rows: found };
}

/**
 * Takes values committed since the fields were last searched; null: that time is not known, or they are too many;
 * 'over': the slice is over, the next one goes on with later commits.
 */
async function takeSince(snapshot: Snapshot, search: Search, slice: SearchSlice): Promise<LatestRow[] | null | 'over'> {
  const { deviceKey, wanted } = search;
  const to = endOfAll(search);
  // Other searches may add to the memory meanwhile. More than fits into a slice may have been committed behind this
  // search's own.
  const known = slice.memory.known(deviceKey, wanted.keys()).sort((a, b) => Number(b.isOwn) - Number(a.isOwn));
  let rows: LatestRow[] | null = null;
  for (const [position, ofFields] of Map.groupBy(known, (one) => one.position)) {
    const unseen = new Map(
      ofFields.map(({ fieldKey, upTo }) => {
        const { from, to } = must(wanted.get(fieldKey));
        return [fieldKey, { from: Math.max(from, upTo), to: Math.min(to, upTo + 1) }];
      }),
    );
    const most = ofFields.some(({ isOwn }) => isOwn) ? MANY_WHILE_SEARCHED : MANY_COMMITTED;
    const since = { position, to, most };
    const taken = await takeCommitted(snapshot, { deviceKey, wanted: unseen }, since, slice);
    if (taken === null) continue;
    if (taken.upTo !== null) {
      const upTo = new Map(ofFields.map((field) => [field.fieldKey, field.upTo]));
      for (const { fieldKey, timestamp } of taken.rows) upTo.set(fieldKey, timestamp);
      slice.memory.remember(search, taken.upTo, upTo, true);
      return 'over';
    }
    for (const [fieldKey, stretch] of unseen) must(wanted.get(fieldKey)).to = stretch.to;
    for (const { fieldKey } of taken.rows) wanted.delete(fieldKey);
    rows = [...(rows ?? []), ...taken.rows];
  }
  return rows;
}

/** Takes committed values part by part, until the slice is over; `upTo`: its end (null: of all). null: too many. */
async function takeCommitted(
  snapshot: Snapshot,
  { deviceKey, wanted }: Search,
  { position, ...since }: Omit<CommittedSince, 'deviceKey' | 'upTo'>,
  slice: SearchSlice,
): Promise<{ rows: LatestRow[]; upTo: string | null } | null> {
  const found = new Map<number, LatestRow>();
  for (let after = position; ;) {
    const upTo = await snapshot.partSince(after);
    // Later commits may be newer, or the same moment once more.
    const unseen = [...wanted].map(
      ([key, { from, to }]) => [key, { from: found.get(key)?.timestamp ?? from, to }] as const,
    );
    const part = { deviceKey, wanted: new Map(unseen) };
    const rows = await takePart(snapshot, part, { ...since, position: after, upTo });
    if (rows === null) return null;
    for (const row of rows) found.set(row.fieldKey, row);
    if (upTo === null || slice.isOver()) return { rows: [...found.values()], upTo };
    after = upTo;
  }
}

/** null: too much was committed. */
async function takePart(
  snapshot: Snapshot,
  search: Search,
  { to, ...since }: Omit<CommittedSince, 'deviceKey'>,
): Promise<LatestRow[] | null> {
  const rows: LatestRow[] = [];
  for (let end = to; search.wanted.size > 0 && end > -Infinity;) {
    const page = await snapshot.committedSince({ deviceKey: search.deviceKey, ...since, to: end });
    if (page === null) return null;
    rows.push(...takeFrom(search, page.rows));
    end = endOf(page);
  }
  return rows;
}

/** Last values of the fields whose newest one is in a chunk. */
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
  return must(decode(must(bytes)).values.at(-1));
}

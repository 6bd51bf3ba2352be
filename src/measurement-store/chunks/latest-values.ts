import type { LatestRow, LatestQuery, StoredValue } from '../../domain/measurements/store.ts';
import { eachValue } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import type { LatestMemory } from './latest-memory.ts';
import type { Page } from './page.ts';
import { readingPages } from './reading-pages.ts';
import type { ChunkHead, ReadingRow, Snapshot } from './snapshot.ts';

/** Most devices have all their fields in the newest few readings. */
const FIRST_PAGE = 2;
const PAGE = 500;
/** Devices of which a page each is in memory, of four megabytes at worst. */
const AT_ONCE = 10;

/**
 * The fields of a device that are still to be found, each with the time from which on a reading has it newer than a
 * chunk.
 */
interface Search {
  deviceKey: number;
  wanted: Map<number, number>;
  chunks: Map<number, ChunkHead>;
}

/**
 * The value with the latest time of each field of devices. Looks at readings from the newest back, until no field is
 * left that could have a newer value there than its newest chunk has. `memory`: of earlier searches in snapshots.
 */
export async function latestValues(
  snapshot: Snapshot,
  queries: readonly LatestQuery[],
  memory?: LatestMemory,
): Promise<LatestRow[]> {
  const newest = await snapshot.newest(queries, FIRST_PAGE);
  const rows: LatestRow[] = [];
  for (let from = 0; from < queries.length; from += AT_ONCE) {
    const found = await allDone(
      queries.slice(from, from + AT_ONCE).map(({ deviceKey, fieldKeys }, i) => {
        const { chunks, readings } = newest[from + i]!;
        const wanted = new Map(fieldKeys.map((fieldKey) => [fieldKey, chunks.get(fieldKey)?.lastAt ?? -Infinity]));
        return searched(snapshot, { deviceKey, wanted, chunks }, readings, memory);
      }),
    );
    for (const ofDevice of found) rows.push(...ofDevice);
  }
  return rows;
}

/** As `Promise.all`, but throws only when none goes on: the snapshot ends then, and the memory must not see another. */
async function allDone<T>(searches: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(searches);
  return Promise.all(searches);
}

/** `readings`: the first page. */
async function searched(
  snapshot: Snapshot,
  search: Search,
  readings: Page<ReadingRow>,
  memory: LatestMemory | undefined,
): Promise<LatestRow[]> {
  const { deviceKey, wanted, chunks } = search;
  const rows = taken(search, readings.rows);
  const to = endOf(readings);
  if (isToSearch(search, to))
    rows.push(...(memory ? await remembering(snapshot, search, to, memory) : (await back(snapshot, search, to)).rows));
  for (const fieldKey of wanted.keys()) {
    const chunk = chunks.get(fieldKey);
    if (!chunk) continue;
    const value = chunk.summary ? chunk.summary.last : await lastText(snapshot, deviceKey, fieldKey, chunk.firstAt);
    rows.push({ deviceKey, fieldKey, timestamp: chunk.lastAt, value });
  }
  return rows;
}

/** Page by page from `to` on; `isFar`: many of them. */
async function back(snapshot: Snapshot, search: Search, to: number): Promise<{ rows: LatestRow[]; isFar: boolean }> {
  const rows: LatestRow[] = [];
  if (!isToSearch(search, to)) return { rows, isFar: false };
  const range = { deviceKey: search.deviceKey, from: oldest(search.wanted), to, newestFirst: true };
  let pages = 0;
  for await (const page of readingPages(snapshot, range, PAGE)) {
    pages += 1;
    rows.push(...taken(search, page));
    if (!isToSearch(search, page.at(-1)?.timestamp ?? -Infinity)) break;
  }
  return { rows, isFar: pages > 1 };
}

/** As `back`, without what earlier searches looked through: of that only what was committed since can be newer. */
async function remembering(snapshot: Snapshot, search: Search, to: number, memory: LatestMemory): Promise<LatestRow[]> {
  const { deviceKey, wanted } = search;
  const bounds = new Map(wanted);
  // Others may add to the memory meanwhile, or clear it.
  const known = new Map([...bounds.keys()].map((key) => [key, memory.get(deviceKey, key)]));
  const { generation } = memory;
  const rows: LatestRow[] = [];
  let end = -Infinity;
  let isKnown = false;
  for (const [position, fieldKeys] of Map.groupBy(bounds.keys(), (key) => known.get(key)?.position)) {
    const since = position === undefined ? null : await snapshot.committedSince({ deviceKey, position, to });
    if (!since?.isLast) {
      end = to;
      continue;
    }
    isKnown = true;
    const upTo = (key: number): number => Math.max(known.get(key)?.upTo ?? Infinity, bounds.get(key)!);
    const unseen = new Map(fieldKeys.map((key) => [key, upTo(key)]));
    rows.push(...taken({ ...search, wanted: unseen }, since.rows));
    for (const at of unseen.values()) end = Math.max(end, Math.min(at + 1, to));
  }
  for (const { fieldKey } of rows) wanted.delete(fieldKey);
  const behind = await back(snapshot, search, end);
  rows.push(...behind.rows);
  if (isKnown || behind.isFar) {
    const position = await snapshot.position();
    const found = new Map(rows.map(({ fieldKey, timestamp }) => [fieldKey, timestamp]));
    for (const [key, bound] of bounds)
      memory.set(deviceKey, key, { position, upTo: found.get(key) ?? bound }, generation);
  }
  return rows;
}

function oldest(wanted: Search['wanted']): number {
  return Math.min(...wanted.values());
}

/** Everything from there on has been looked through. */
function endOf({ rows, isLast }: Page<ReadingRow>): number {
  return isLast ? -Infinity : (rows.at(-1)?.timestamp ?? Infinity);
}

/** Whether a field may have a newer value before `to` than in its newest chunk. */
function isToSearch({ wanted }: Search, to: number): boolean {
  return wanted.size > 0 && to > oldest(wanted);
}

/** What the readings, newest first, have of the fields that are still wanted, and then are no longer. */
function taken({ deviceKey, wanted }: Search, readings: ReadingRow[]): LatestRow[] {
  const rows: LatestRow[] = [];
  for (const { timestamp, values } of readings) {
    if (wanted.size === 0) break;
    const found = new Map<number, StoredValue>();
    eachValue(values, (fieldKey, value) => {
      if (timestamp >= (wanted.get(fieldKey) ?? Infinity)) found.set(fieldKey, value);
    });
    for (const [fieldKey, value] of found) {
      rows.push({ deviceKey, fieldKey, timestamp, value });
      wanted.delete(fieldKey);
    }
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

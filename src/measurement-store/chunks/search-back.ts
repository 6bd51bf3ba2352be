import type { LatestQuery, LatestRow, StoredValue } from '../../domain/ports/store.ts';
import { eachValue } from '../readings/reading-values.ts';
import type { Page } from './page.ts';
import type { SearchSlice } from './search-slice.ts';
import type { ReadingRow, Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

/** Readings of the first page: most devices have all their fields in the newest few. */
export const FIRST_PAGE = 2;
/** Readings per page, where one follows the other. */
const PAGES = [FIRST_PAGE, 500, 2_000];

/** Stretch of readings that may hold a field's newest value: `from` on newer than its chunks; exclusive `to`. */
interface Stretch {
  from: number;
  to: number;
}

/** The fields of a device that were not found yet; a stretch without length: there is nothing more to be found. */
export interface Search extends Pick<LatestQuery, 'deviceKey' | 'tenant'> {
  wanted: Map<number, Stretch>;
}

/** Result of a search. */
export interface Found {
  rows: LatestRow[];
  /** Nothing is left to be looked through. */
  isDone: boolean;
  /** More than a page was looked through. */
  isFar: boolean;
}

/**
 * Looks through the rest, from the newest reading back, and lowers the stretches as far as it came: to the end, or
 * until the slice is over. `goesOn`: the readings behind those that the caller has looked at are the first.
 */
export async function searchBack(
  snapshot: Snapshot,
  search: Search,
  goesOn: boolean,
  slice: SearchSlice,
): Promise<Found> {
  const rows: LatestRow[] = [];
  const begun = new Map([...search.wanted].map(([fieldKey, { to }]) => [fieldKey, to]));
  let pages = 0;
  let size = 0;
  let end = goesOn ? endOfAll(search) : NaN;
  // The next slice begins with less to look through; else none would ever be the last.
  let isFurther = false;
  while (isOpen(search) && !(isFurther && slice.isOver())) {
    const [from, to] = [Math.min(...open(search).map((stretch) => stretch.from)), endOfAll(search)];
    // Two readings do where an earlier slice found a field; else the wanted one is behind, page after page.
    size = to === end ? Math.min(size + 1, PAGES.length - 1) : 0;
    const range = { deviceKey: search.deviceKey, from, to, newestFirst: true, limit: must(PAGES[size]) };
    const page = await snapshot.readings(range);
    pages += 1;
    end = endOf(page);
    const found = takeFrom(search, page.rows);
    rows.push(...found);
    const isLower =
      lookedThrough(search, end) || found.some((row) => row.timestamp < must(begun.get(row.fieldKey)) - 1);
    isFurther ||= isLower && size > 0;
  }
  return { rows, isDone: !isOpen(search), isFar: pages > 1 };
}

/** Takes values of wanted fields from the readings, newest first; these fields are no longer wanted. */
export function takeFrom({ deviceKey, wanted }: Search, readings: ReadingRow[]): LatestRow[] {
  const rows: LatestRow[] = [];
  for (const { timestamp, values } of readings) {
    if (wanted.size === 0) break;
    const found = new Map<number, StoredValue>();
    eachValue(values, (fieldKey, value) => {
      if (timestamp >= (wanted.get(fieldKey)?.from ?? Infinity)) found.set(fieldKey, value);
    });
    for (const [fieldKey, value] of found) {
      rows.push({ deviceKey, fieldKey, timestamp, value });
      wanted.delete(fieldKey);
    }
  }
  return rows;
}

/** Notes that from there on no reading has a wanted field; whether that is news of one. */
export function lookedThrough(search: Search, end: number): boolean {
  const lowered = open(search).filter((stretch) => end < stretch.to);
  for (const stretch of lowered) stretch.to = end;
  return lowered.length > 0;
}

/** Time at which a page of the newest readings ends. */
export function endOf({ rows, isLast }: Page<ReadingRow>): number {
  return isLast ? -Infinity : (rows.at(-1)?.timestamp ?? Infinity);
}

/** Whether a field may have a newer value among readings than in its newest chunk. */
export function isOpen(search: Search): boolean {
  return open(search).length > 0;
}

/** The exclusive end of all stretches that are left. */
export function endOfAll(search: Search): number {
  return Math.max(...open(search).map(({ to }) => to));
}

function open({ wanted }: Search): Stretch[] {
  return [...wanted.values()].filter(({ from, to }) => from < to);
}

import type { LatestRow, LatestQuery, StoredValue } from '../../domain/measurements/store.ts';
import { eachValue } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import type { Page } from './page.ts';
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
 * left that could have a newer value there than its newest chunk has.
 */
export async function latestValues(snapshot: Snapshot, queries: readonly LatestQuery[]): Promise<LatestRow[]> {
  const newest = await snapshot.newest(queries, FIRST_PAGE);
  const rows: LatestRow[] = [];
  for (let from = 0; from < queries.length; from += AT_ONCE) {
    const found = await Promise.all(
      queries.slice(from, from + AT_ONCE).map(({ deviceKey, fieldKeys }, i) => {
        const { chunks, readings } = newest[from + i]!;
        const wanted = new Map(fieldKeys.map((fieldKey) => [fieldKey, chunks.get(fieldKey)?.lastAt ?? -Infinity]));
        return searched(snapshot, { deviceKey, wanted, chunks }, readings);
      }),
    );
    for (const ofDevice of found) rows.push(...ofDevice);
  }
  return rows;
}

/** `readings`: the first page. */
async function searched(snapshot: Snapshot, search: Search, readings: Page<ReadingRow>): Promise<LatestRow[]> {
  const { deviceKey, wanted, chunks } = search;
  const rows = taken(search, readings.rows);
  for (let page = readings; wanted.size > 0 && !page.isLast;) {
    const [from, to] = [Math.min(...wanted.values()), page.rows.at(-1)?.timestamp ?? Infinity];
    if (to <= from) break;
    page = await snapshot.readings({ deviceKey, from, to, newestFirst: true, limit: PAGE });
    rows.push(...taken(search, page.rows));
  }
  for (const fieldKey of wanted.keys()) {
    const chunk = chunks.get(fieldKey);
    if (!chunk) continue;
    const value = chunk.summary ? chunk.summary.last : await lastText(snapshot, deviceKey, fieldKey, chunk.firstAt);
    rows.push({ deviceKey, fieldKey, timestamp: chunk.lastAt, value });
  }
  return rows;
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

import { indexAt } from '../../domain/history/index-at.ts';
import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import type { DeviceKeys, StoredValue } from '../../domain/ports/store.ts';
import { valueOf } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import type { ReadingRow, Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

/** Maximum readings per page, those between the wanted ones included. */
const READINGS_A_PAGE = 200;

/** A chunk in which one of the keys may be. */
interface OpenChunk {
  firstAt: number;
  lastAt: number;
  columns: SegmentColumns;
}

/** Places of a device's keys: a key may be in a reading and, under it, in a chunk. */
interface Places {
  /** Readings that are there, by moment. */
  readings: Map<number, ReadingRow>;
  /** Chunks by field, in order of time. */
  chunks: Map<number, OpenChunk[]>;
}

/** The values under the keys, in their order; undefined where there is none. */
export async function valuesAt(snapshot: Snapshot, keys: DeviceKeys): Promise<(StoredValue | undefined)[]> {
  const places = await placesOf(snapshot, keys);
  return keys.fieldKeys.map((fieldKey, at) => valueIn(places, fieldKey, must(keys.timestamps[at])));
}

/** The value under a key: a reading counts before a chunk. */
export function valueIn({ readings, chunks }: Places, fieldKey: number, timestamp: number): StoredValue | undefined {
  const reading = readings.get(timestamp);
  const own = reading && valueOf(reading.values, fieldKey);
  if (own !== undefined) return own;
  const chunk = chunks.get(fieldKey)?.find(({ firstAt, lastAt }) => firstAt <= timestamp && timestamp <= lastAt);
  if (chunk === undefined) return undefined;
  const at = indexAt(chunk.columns.timestamps, timestamp);
  return chunk.columns.timestamps[at] === timestamp ? chunk.columns.values[at] : undefined;
}

/** Finds the keys; of chunks those that reach over one of them. */
export async function placesOf(snapshot: Snapshot, { deviceKey, fieldKeys, timestamps }: DeviceKeys): Promise<Places> {
  const ofField = new Map<number, number[]>();
  for (const [at, fieldKey] of fieldKeys.entries()) {
    const own = ofField.get(fieldKey);
    if (own === undefined) ofField.set(fieldKey, [must(timestamps[at])]);
    else own.push(must(timestamps[at]));
  }
  const readings = await readingsAt(snapshot, deviceKey, inOrder(timestamps));
  const newest = await snapshot.newestChunks(deviceKey, [...ofField.keys()]);
  const chunks = new Map<number, OpenChunk[]>();
  for (const [fieldKey, { lastAt }] of newest) {
    const asked = inOrder(must(ofField.get(fieldKey))).filter((timestamp) => timestamp <= lastAt);
    chunks.set(fieldKey, await chunksAt(snapshot, deviceKey, fieldKey, asked));
  }
  return { readings, chunks };
}

async function readingsAt(
  snapshot: Snapshot,
  deviceKey: number,
  asked: readonly number[],
): Promise<Map<number, ReadingRow>> {
  const found = new Map<number, ReadingRow>();
  const isAsked = new Set(asked);
  const to = (asked.at(-1) ?? 0) + 1;
  for (let at = 0; at < asked.length;) {
    const limit = Math.min(asked.length - at, READINGS_A_PAGE);
    const { rows } = await snapshot.readings({ deviceKey, from: must(asked[at]), to, newestFirst: false, limit });
    for (const row of rows) if (isAsked.has(row.timestamp)) found.set(row.timestamp, row);
    if (rows.length < limit) break;
    const reached = must(rows.at(-1)).timestamp;
    while (at < asked.length && must(asked[at]) <= reached) at += 1;
  }
  return found;
}

async function chunksAt(
  snapshot: Snapshot,
  deviceKey: number,
  fieldKey: number,
  asked: readonly number[],
): Promise<OpenChunk[]> {
  const open: OpenChunk[] = [];
  for (let at = 0; at < asked.length;) {
    const to = must(asked.at(-1)) + 1;
    const [head] = await snapshot.chunks({
      deviceKey,
      fieldKey,
      from: must(asked[at]),
      to,
      newestFirst: false,
      limit: 1,
    });
    if (head === undefined) break;
    const { firstAt, lastAt } = head;
    while (at < asked.length && must(asked[at]) < firstAt) at += 1;
    if (at === asked.length || must(asked[at]) > lastAt) continue;
    const [bytes] = await snapshot.chunkBytes(deviceKey, fieldKey, [firstAt]);
    open.push({ firstAt, lastAt, columns: decode(must(bytes)) });
    while (at < asked.length && must(asked[at]) <= lastAt) at += 1;
  }
  return open;
}

function inOrder(timestamps: readonly number[]): number[] {
  return [...new Set(timestamps)].sort((a, b) => a - b);
}

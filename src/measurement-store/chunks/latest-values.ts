import type { LatestRow, LatestQuery, StoredValue } from '../../domain/measurements/store.ts';
import { eachValue } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import type { Snapshot } from './snapshot.ts';

/** Most devices have all their fields in the newest few readings. */
const FIRST_PAGE = 2;
const PAGE = 500;

/**
 * The value with the latest time of each field of one device. Looks at readings from the newest back, until no field is
 * left that could have a newer value there than its newest chunk has.
 */
export async function latestValues(snapshot: Snapshot, { deviceKey, fieldKeys }: LatestQuery): Promise<LatestRow[]> {
  const fields = [...new Set(fieldKeys)];
  const chunks = await snapshot.newestChunks(deviceKey, fields);
  const wanted = new Map(fields.map((fieldKey) => [fieldKey, chunks.get(fieldKey)?.lastAt ?? -Infinity]));
  const rows: LatestRow[] = [];
  let to = Infinity;
  for (let limit = FIRST_PAGE; wanted.size > 0; limit = PAGE) {
    const from = Math.min(...wanted.values());
    const readings = await snapshot.readings({ deviceKey, from, to, newestFirst: true, limit });
    for (const { timestamp, values } of readings) {
      const found = new Map<number, StoredValue>();
      eachValue(values, (fieldKey, value) => {
        if (timestamp >= (wanted.get(fieldKey) ?? Infinity)) found.set(fieldKey, value);
      });
      for (const [fieldKey, value] of found) {
        rows.push({ deviceKey, fieldKey, timestamp, value });
        wanted.delete(fieldKey);
      }
      if (wanted.size === 0) break;
    }
    if (readings.length < limit) break;
    to = readings.at(-1)!.timestamp;
  }
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

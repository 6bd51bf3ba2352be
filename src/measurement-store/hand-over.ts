import { type Columns, type MeasurementStore, NOT_HEARD, type RangeQuery } from '../domain/measurements/store.ts';
import type { PurgeRow } from './purger.ts';

const VALUES_A_SLICE = 2_000;

/**
 * Writes one field's values of a device to another as well, page by page; doing it again changes nothing. What the other
 * has at a moment by itself stays: it may have been recorded since, under the serial number that it has taken over. The
 * other counts as heard when the first one was. false: it was stopped before the end.
 */
export async function handOver(
  store: Pick<MeasurementStore, 'range' | 'append' | 'lastHeard'>,
  { deviceKey, fieldKey, intoDeviceKey }: PurgeRow,
  isStopped: () => boolean,
): Promise<boolean> {
  if (fieldKey === null || intoDeviceKey === null) return true;
  const receivedAt = (await store.lastHeard([deviceKey])).get(deviceKey) ?? NOT_HEARD;
  for await (const { timestamps, values } of pagesOf(store, { deviceKey, fieldKey })) {
    if (isStopped()) return false;
    const missing = new Map(timestamps.map((timestamp, at) => [timestamp, values[at]!]));
    const stretch = { deviceKey: intoDeviceKey, fieldKey, from: timestamps[0]!, to: timestamps.at(-1)! + 1 };
    for await (const own of pagesOf(store, stretch)) {
      if (isStopped()) return false;
      for (const timestamp of own.timestamps) missing.delete(timestamp);
    }
    if (missing.size === 0) continue;
    const columns = { timestamps: [...missing.keys()], values: [...missing.values()] };
    const fieldKeys = columns.timestamps.map(() => fieldKey);
    await store.append({ batches: [{ deviceKey: intoDeviceKey, receivedAt, fieldKeys, ...columns }] });
  }
  return true;
}

type Stretch = Pick<RangeQuery, 'deviceKey' | 'fieldKey' | 'from' | 'to'>;

/** In order of time, none of them empty. */
async function* pagesOf(
  store: Pick<MeasurementStore, 'range'>,
  { from = 0, ...rest }: Stretch,
): AsyncGenerator<Columns> {
  for (;;) {
    const page = await store.range({ ...rest, from, newestFirst: false, limit: VALUES_A_SLICE });
    const last = page.timestamps.at(-1);
    if (last === undefined) return;
    yield page;
    from = last + 1;
  }
}

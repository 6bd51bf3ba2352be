import { type MeasurementStore, NOT_HEARD } from '../domain/measurements/store.ts';
import type { PurgeRow } from './purger.ts';

const VALUES_A_SLICE = 2_000;

/**
 * Writes one field's values of a device to another as well, page by page; doing it again changes nothing. The other
 * counts as heard when the first one was. false: it was stopped before the end.
 */
export async function handOver(
  store: Pick<MeasurementStore, 'range' | 'append' | 'lastHeard'>,
  { deviceKey, fieldKey, intoDeviceKey }: PurgeRow,
  isStopped: () => boolean,
): Promise<boolean> {
  if (fieldKey === null || intoDeviceKey === null) return true;
  const receivedAt = (await store.lastHeard([deviceKey])).get(deviceKey) ?? NOT_HEARD;
  for (let from = 0; ;) {
    if (isStopped()) return false;
    const { timestamps, values } = await store.range({
      deviceKey,
      fieldKey,
      from,
      newestFirst: false,
      limit: VALUES_A_SLICE,
    });
    const last = timestamps.at(-1);
    if (last === undefined) return true;
    const fieldKeys = timestamps.map(() => fieldKey);
    await store.append({ batches: [{ deviceKey: intoDeviceKey, receivedAt, fieldKeys, timestamps, values }] });
    from = last + 1;
  }
}

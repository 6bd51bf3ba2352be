import { type MeasurementStore, NOT_HEARD } from '../domain/ports/store.ts';
import type { Edit } from './chunks/edit.ts';
import type { PurgeRow } from './purger.ts';

const VALUES_A_SLICE = 2_000;

interface HandOverDeps {
  store: Pick<MeasurementStore, 'range' | 'lastHeard'>;
  /** Returns the rest of it, because it was stopped; null: nothing. */
  edit(deviceKey: number, edit: Edit): Promise<Edit | null>;
}

/**
 * Writes one field's values of a device to another as well, page by page; doing it again changes nothing. Values that
 * the other has at a moment by itself stay: they may have been recorded since, under the serial number that it has
 * taken over. The other counts as heard when the first one was. false: it was stopped before the end.
 */
export async function handOver(
  { store, edit }: HandOverDeps,
  { deviceKey, fieldKey, intoDeviceKey, intoFieldKey }: PurgeRow,
  isStopped: () => boolean,
): Promise<boolean> {
  if (fieldKey === null || intoDeviceKey === null) return true;
  const heardAt = (await store.lastHeard([deviceKey])).get(deviceKey) ?? NOT_HEARD;
  for (let from = 0; ;) {
    if (isStopped()) return false;
    const page = await store.range({ deviceKey, fieldKey, from, newestFirst: false, limit: VALUES_A_SLICE });
    const last = page.timestamps.at(-1);
    if (last === undefined) return true;
    const fill = { kind: 'fill', fieldKey: intoFieldKey ?? fieldKey, heardAt, ...page } as const;
    if ((await edit(intoDeviceKey, fill)) !== null) return false;
    from = last + 1;
  }
}

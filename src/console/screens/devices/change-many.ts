import { request } from '../../api/request.ts';
import type { UpdateDevicesInput } from '../../api/schema-types.ts';
import { conditionArguments, type DeviceFilter } from './device-filter.ts';
import { ChangeMany } from './devices.graphql.ts';

/** Maximum ids per request. */
const IDS_AT_ONCE = 1_000;

/** The devices of a change: those with these ids, or all that match a filter. */
export type ChangedDevices = { ids: readonly string[] } | { workspaceId: string | null; filter: DeviceFilter };

/** Numbers of devices that were looked at, and of those that the change is new to. */
export interface Changed {
  matched: number;
  changed: number;
}

/** Changes devices; a dry run only counts. */
export async function changeMany(
  devices: ChangedDevices,
  input: UpdateDevicesInput,
  dryRun: boolean,
): Promise<Changed> {
  if ('filter' in devices) {
    const { workspaceId, filter } = devices;
    const { updateDevices } = await request(ChangeMany, { workspaceId, ...conditionArguments(filter), input, dryRun });
    return updateDevices;
  }
  const sum = { matched: 0, changed: 0 };
  for (let at = 0; at < devices.ids.length; at += IDS_AT_ONCE) {
    const ids = devices.ids.slice(at, at + IDS_AT_ONCE);
    const { updateDevices } = await request(ChangeMany, { ids, input, dryRun });
    sum.matched += updateDevices.matched;
    sum.changed += updateDevices.changed;
  }
  return sum;
}

import type { DevicePlace } from '../access/access.ts';
import { placeOfDevice } from '../access/find-device.ts';
import type { Change } from '../ports/cluster.ts';
import type { Device } from '../entities/device.ts';

/** What the nodes are told when devices of one product, which stand in one place, changed or are gone. */
export function changeOfDevices(
  { productId, workspaceId }: Pick<DevicePlace, 'productId' | 'workspaceId'>,
  ids: string[],
): Change {
  return { kind: 'devices', productId, workspaceId, ids };
}

/** What they are told when one changed. */
export function changeOfDevice(device: Device): Change {
  return changeOfDevices(placeOfDevice(device), [device.id]);
}

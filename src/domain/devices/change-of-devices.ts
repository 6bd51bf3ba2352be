import type { DevicePlace } from '../access/access.ts';
import { placeOfDevice } from '../access/find-device.ts';
import type { Change } from '../ports/cluster.ts';
import type { Device } from '../entities/device.ts';

/** The change to send to all nodes when devices of one product and workspace changed or were deleted. */
export function changeOfDevices(
  { productId, workspaceId }: Pick<DevicePlace, 'productId' | 'workspaceId'>,
  ids: string[],
): Change {
  return { kind: 'devices', productId, workspaceId, ids };
}

/** The change to send when one device changed. */
export function changeOfDevice(device: Device): Change {
  return changeOfDevices(placeOfDevice(device), [device.id]);
}

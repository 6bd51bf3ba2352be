import { placeOfDevice } from '../access/find-device.ts';
import type { Change } from '../cluster.ts';
import type { Device } from '../entities/device.ts';

/** What the nodes are told when a device changed, or several of its product did. */
export function changeOfDevices(device: Device, ids = [device.id]): Change {
  const { productId, workspaceId } = placeOfDevice(device);
  return { kind: 'devices', productId, workspaceId, ids };
}

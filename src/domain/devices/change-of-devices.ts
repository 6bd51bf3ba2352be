import type { DevicePlace } from '../access/access.ts';
import type { Change } from '../cluster.ts';

/** What the nodes are told when devices of one product, which stand in one place, changed or are gone. */
export function changeOfDevices(
  { productId, workspaceId }: Pick<DevicePlace, 'productId' | 'workspaceId'>,
  ids: string[],
): Change {
  return { kind: 'devices', productId, workspaceId, ids };
}

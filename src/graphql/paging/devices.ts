import type { DeviceOrder, ListedDevice } from '../../domain/devices/device-list.ts';
import type { Device } from '../../domain/entities/device.ts';
import type { Paging } from './page.ts';

/** A cursor belongs to the order it was made in: it holds the value sorted by and the device's key. */
const PAGINGS: Record<DeviceOrder, Paging<ListedDevice>['shape']> = {
  NAME: ['string', 'number'],
  LAST_HEARD: ['number', 'number'],
  CREATED: ['number', 'number'],
};

/** How lists of devices are paged in this order; a cursor of another order or direction is refused. */
export function devicePaging(order: DeviceOrder, descending: boolean): Paging<ListedDevice> {
  const kind = `device ${order}${descending ? ' descending' : ''}`;
  return { kind, shape: PAGINGS[order], keyOf: ({ position }) => position };
}

/** The row of the connection that clients see. */
export function deviceOf({ device }: ListedDevice): Device {
  return device;
}

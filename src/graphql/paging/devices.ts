import type { ListedDevice } from '../../domain/devices/device-list.ts';
import type { DeviceOrder } from '../../domain/devices/device-order.ts';
import { bytesOfDevice } from '../../domain/devices/device-record.ts';
import type { FieldChoice } from '../../domain/devices/value-look.ts';
import type { Device } from '../../domain/entities/device.ts';
import type { Product } from '../../domain/entities/product.ts';
import type { Loaders } from '../context/loaders.ts';
import type { Paging } from './page.ts';

/** A cursor belongs to the order it was made in: it holds the value sorted by and the device's key. */
const PAGINGS: Record<DeviceOrder, Paging<ListedDevice>['shape']> = {
  NAME: ['string', 'number'],
  LAST_HEARD: ['number', 'number'],
  CREATED: ['number', 'number'],
};

/** The text of the value sorted by, and the device's key. */
const BY_VALUE = ['string', 'number'] as const;

interface Order {
  orderBy: DeviceOrder;
  orderByValue: FieldChoice | null;
  descending: boolean;
}

/** The paging of device lists in this order; a cursor of another order or direction is refused. */
export function devicePaging({ orderBy, orderByValue, descending }: Order): Paging<ListedDevice> {
  const { field, role } = orderByValue ?? {};
  const order = orderByValue === null ? orderBy : `value ${field ?? role}`;
  const shape = orderByValue === null ? PAGINGS[orderBy] : BY_VALUE;
  return { kind: `device ${order}${descending ? ' descending' : ''}`, shape, keyOf: ({ position }) => position };
}

/** The row of the connection that clients see. */
export function deviceOf({ device }: ListedDevice): Device {
  return device;
}

/** Estimates the bytes of a page of devices in memory. */
export function bytesOfListed({ items }: { items: readonly ListedDevice[] }): number {
  return items.reduce((bytes, { device }) => bytes + bytesOfDevice(device), 0);
}

/** Gives the loaders what was read with a page of devices, so that it is not read again. */
export function knowDevices({ product, lastHeard }: Loaders, items: readonly ListedDevice[]): void {
  for (const { device, lastHeardAt } of items) {
    lastHeard.know(device.key, lastHeardAt);
    const row = device.product as Partial<Product>;
    if (row.name !== undefined) product.know(device.product.key, row as Product);
  }
}

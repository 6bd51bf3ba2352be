import type { Database } from '../ports/database.ts';
import type { Device } from '../entities/device.ts';
import type { Product } from '../entities/product.ts';
import { TagListType } from '../entities/tag-list.ts';

/** A device as the database returns it, from `device d` joined with `product p`. */
export interface DeviceRecord {
  key: number;
  id: string;
  workspace_id: string;
  product_key: number;
  product_id: string;
  name: string;
  serial_number: string;
  serial_folded: string;
  plan: string;
  tags: string;
  location: string | null;
  offline_after_seconds: number | null;
  write_rate: number | null;
  created_at: number | string;
}

const OWN: readonly (keyof DeviceRecord)[] = [
  'key',
  'id',
  'workspace_id',
  'product_key',
  'name',
  'serial_number',
  'serial_folded',
  'plan',
  'tags',
  'location',
  'offline_after_seconds',
  'write_rate',
  'created_at',
];

/** The selected columns of a `DeviceRecord`. */
export const DEVICE_COLUMNS = `${OWN.map((name) => `d."${name}"`).join(', ')}, p.id as product_id`;

const TAGS = new TagListType();

/** Approximate bytes of a row with its short texts. */
const USUAL_BYTES = 500;

/** Approximate bytes of a device in memory. */
export function bytesOfDevice({ name, serialNumber, location, tags }: Device): number {
  return (
    USUAL_BYTES +
    2 * (name.length + serialNumber.length) +
    (location?.length ?? 0) +
    tags.reduce((sum, tag) => sum + tag.length, 0)
  );
}

/**
 * The devices with these ids or keys as plain rows, unordered, with key and id of their product only. Entities take ten
 * times as long.
 */
export async function readDevices(
  database: Database,
  column: 'id' | 'key',
  values: readonly (string | number)[],
): Promise<Device[]> {
  const places = values.map(() => '?').join(', ');
  const from = 'from device d join product p on p."key" = d.product_key';
  const text = `select ${DEVICE_COLUMNS} ${from} where d."${column}" in (${places || 'null'})`;
  const rows = await database.read().execute<DeviceRecord[]>(text, [...values]);
  return rows.map((row) => toDevice(row, bareProduct(row)));
}

/** The product of the row, with its keys alone. */
export function bareProduct(row: DeviceRecord): Product {
  return { key: row.product_key, id: row.product_id, workspace: { id: row.workspace_id } } as Product;
}

/** The row in the shape of an entity, for lists: plain, so it must not be given to an EntityManager. */
export function toDevice(row: DeviceRecord, product: Product): Device {
  return {
    key: row.key,
    id: row.id,
    workspace: product.workspace,
    product,
    name: row.name,
    serialNumber: row.serial_number,
    serialFolded: row.serial_folded,
    plan: row.plan,
    tags: TAGS.convertToJSValue(row.tags),
    location: row.location,
    offlineAfterSeconds: row.offline_after_seconds,
    writeRate: row.write_rate,
    createdAt: Number(row.created_at),
  } as Device;
}

import type { Database } from '../database.ts';
import { longJsonPieces, readLongJson } from '../long-json.ts';
import { giveWay } from '../give-way.ts';
import { placeholders } from '../long-columns.ts';

const USUAL_BYTES = 500;

/** A device as ingest needs it. */
export interface DeviceRow {
  key: number;
  id: string;
  productId: string;
  name: string;
  serialNumber: string;
  /** Key of a configuration field → the device's own value. */
  configuration: Record<string, unknown>;
  configurationBytes: number;
  writeRate: number | null;
}

type BareRow = Omit<DeviceRow, 'configuration' | 'configurationBytes'> & { isConfigured: number };

/** Which of `device d` are wanted, with the values of its question marks. */
interface Condition {
  sql: string;
  values: readonly unknown[];
}

/** What a device in memory weighs, in devices that are told nothing. */
export function weightOfDevice({ configurationBytes }: DeviceRow): number {
  return 1 + configurationBytes / USUAL_BYTES;
}

/** Devices by their ids. */
export function withIds(ids: readonly string[]): Condition {
  return { sql: isOneOf('d.id', ids), values: ids };
}

/** Devices of a product by their serial numbers or ids. */
export function named(productKey: number, serialNumbers: readonly string[], ids: readonly string[]): Condition {
  // A half that is empty would have SQLite use no index for the other.
  const halves = [
    ...(serialNumbers.length === 0 && ids.length > 0 ? [] : [isOneOf('d.serial_number', serialNumbers)]),
    ...(ids.length === 0 ? [] : [isOneOf('d.id', ids)]),
  ];
  return { sql: `d.product_key = ? and (${halves.join(' or ')})`, values: [productKey, ...serialNumbers, ...ids] };
}

/** Plain rows, in no order: as entities 500 take the event loop 20 ms, like this 2. What they are told may be long. */
export async function readDeviceRows(database: Database, { sql, values }: Condition): Promise<DeviceRow[]> {
  const rows = await database.read().execute<BareRow[]>(
    `select d."key", d.id, p.id as "productId", d.name, d.serial_number as "serialNumber", d.write_rate as "writeRate",
       case when d.configuration is null then 0 else 1 end as "isConfigured"
     from device d join product p on p."key" = d.product_key where ${sql}`,
    [...values],
  );
  const configured = rows.filter(({ isConfigured }) => isConfigured === 1).map(({ key }) => key);
  const configurations = await readConfigurations(database, configured);
  return rows.map(({ key, id, productId, name, serialNumber, writeRate }) => {
    const text = configurations.get(key) ?? '{}';
    const configuration = JSON.parse(text) as Record<string, unknown>;
    return { key, id, productId, name, serialNumber, writeRate, configuration, configurationBytes: text.length };
  });
}

async function readConfigurations(database: Database, keys: readonly number[]): Promise<Map<number, string>> {
  const column = 'configuration';
  const found = new Map<number, string>();
  if (keys.length === 0) return found;
  for (const [at, piece] of (await longJsonPieces(database.read(), database.dialect, column, keys)).entries()) {
    if (at > 0) await giveWay();
    const texts = await readLongJson(database.read(), database.dialect, column, piece);
    for (const [key, text] of texts) found.set(key, text);
  }
  return found;
}

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${placeholders(values)})`;
}

/** By what a device is looked up in its workspace. */
export type NameColumn = keyof typeof DEVICES_NAMED;

const DEVICES_NAMED = { serialNumber: 'serial_number', serialFolded: 'serial_folded' };

/** More devices of a name than these are not read. */
export const MAX_NAMED = 100;

/**
 * The devices of that name in the workspaces. As entities they took four times as long, and unknown names are asked for
 * again and again.
 */
export function readIdsNamed(
  database: Database,
  workspaceIds: readonly string[],
  column: NameColumn,
  name: string,
): Promise<{ id: string; workspaceId: string }[]> {
  return database.read().execute(
    `select id, workspace_id as "workspaceId" from device
     where ${isOneOf('workspace_id', workspaceIds)} and ${DEVICES_NAMED[column]} = ? limit ${MAX_NAMED}`,
    [...workspaceIds, name],
  );
}

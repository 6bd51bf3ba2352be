import type { Database } from '../ports/database.ts';
import { deviceIdentity, isNetworkIdentity } from '../text/device-identity.ts';
import { longJsonPieces, readLongJson } from '../sql/long-json.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { placeholders } from '../sql/long-columns.ts';

const USUAL_BYTES = 500;

/** A device as ingest needs it. */
export interface DeviceRow {
  key: number;
  id: string;
  productId: string;
  name: string;
  serialNumber: string;
  /** The `deviceIdentity` of its serial number. */
  identity: string;
  plan: string;
  /** Key of a configuration field → the device's own value. */
  configuration: Record<string, unknown>;
  configurationBytes: number;
  writeRate: number | null;
}

type BareRow = Omit<DeviceRow, 'identity' | 'configuration' | 'configurationBytes'> & { isConfigured: number };

/** A condition on `device d`, with its parameters. */
interface Condition {
  sql: string;
  values: readonly unknown[];
}

/** Weight of a device in memory, in devices without configuration. */
export function weightOfDevice({ configurationBytes }: DeviceRow): number {
  return 1 + Math.ceil(configurationBytes / USUAL_BYTES);
}

/** Devices by their ids. */
export function withIds(ids: readonly string[]): Condition {
  return { sql: isOneOf('d.id', ids), values: ids };
}

/** Devices of a product by their identities or ids. */
export function named(
  { key, workspaceId }: { key: number; workspaceId: string },
  identities: readonly string[],
  ids: readonly string[],
): Condition {
  const [ofNetworks, others] = [
    identities.filter(isNetworkIdentity),
    identities.filter((one) => !isNetworkIdentity(one)),
  ];
  // Query each by its own index; an empty list would keep SQLite from using any index for the others.
  const ways: [string, readonly string[], readonly unknown[]][] = [
    ['d.serial_number', others, []],
    ['d.workspace_id = ? and d.serial_folded', ofNetworks, [workspaceId]],
    ['d.id', ids, []],
  ];
  const used = ways.filter(([, values]) => values.length > 0);
  return {
    sql: used.map(([column, values]) => `(d.product_key = ? and ${isOneOf(column, values)})`).join(' or ') || '1 = 0',
    values: used.flatMap(([, values, place]) => [key, ...place, ...values]),
  };
}

/** Reads plain rows, unordered: entities take ten times as long. The configuration may be long. */
export async function readDeviceRows(database: Database, { sql, values }: Condition): Promise<DeviceRow[]> {
  const rows = await database.read().execute<BareRow[]>(
    `select d."key", d.id, p.id as "productId", d.name, d.serial_number as "serialNumber", d.plan, d.write_rate as "writeRate",
       case when d.configuration is null then 0 else 1 end as "isConfigured"
     from device d join product p on p."key" = d.product_key where ${sql}`,
    [...values],
  );
  const configured = rows.filter(({ isConfigured }) => isConfigured === 1).map(({ key }) => key);
  const configurations = await readConfigurations(database, configured);
  return rows.map(({ key, ...row }) => {
    const text = configurations.get(key) ?? '{}';
    const configuration = JSON.parse(text) as Record<string, unknown>;
    const { id, productId, name, serialNumber, plan, writeRate } = row;
    const own = { key, id, productId, name, serialNumber, plan, writeRate };
    return { ...own, identity: deviceIdentity(serialNumber), configuration, configurationBytes: text.length };
  });
}

async function readConfigurations(database: Database, keys: readonly number[]): Promise<Map<number, string>> {
  const column = 'configuration';
  const found = new Map<number, string>();
  if (keys.length === 0) return found;
  for (const [at, piece] of (await longJsonPieces(database.read(), database.dialect, column, keys)).entries()) {
    if (at > 0) await yieldToEventLoop();
    const texts = await readLongJson(database.read(), database.dialect, column, piece);
    for (const [key, text] of texts) found.set(key, text);
  }
  return found;
}

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${placeholders(values)})`;
}

/** Maximum devices read per name. */
export const MAX_NAMED = 100;

/**
 * The column that identifies such a device: `serialFolded` differs from the serial number for EUIs and core ids alone.
 */
export function columnOf(identity: string): 'serial_folded' | 'serial_number' {
  return isNetworkIdentity(identity) ? 'serial_folded' : 'serial_number';
}

/**
 * Ids of the devices of that identity in the workspaces. Reads no entities, as unknown names are asked for again and
 * again.
 */
export function readIdsNamed(
  database: Database,
  workspaceIds: readonly string[],
  identity: string,
): Promise<{ id: string; workspaceId: string }[]> {
  return database.read().execute(
    `select id, workspace_id as "workspaceId" from device
     where ${isOneOf('workspace_id', workspaceIds)} and ${columnOf(identity)} = ? limit ${MAX_NAMED}`,
    [...workspaceIds, identity],
  );
}

import type { Database } from '../database.ts';
import { giveWay } from '../give-way.ts';
import { bytesSql, inPieces, placeholders } from '../long-columns.ts';

/** Configurations of so many bytes are read at once, or one that is longer. */
const BYTES_AT_ONCE = 262_144;

/** A device as ingest needs it. */
export interface DeviceRow {
  key: number;
  id: string;
  productId: string;
  name: string;
  serialNumber: string;
  /** Key of a configuration field → the device's own value. */
  configuration: Record<string, unknown>;
  writeRate: number | null;
}

type BareRow = Omit<DeviceRow, 'configuration'> & { bytes: number | null };

/** Which of `device d` are wanted, with the values of its question marks. */
interface Condition {
  sql: string;
  values: readonly unknown[];
}

/** Devices by their ids. */
export function withIds(ids: readonly string[]): Condition {
  return { sql: isOneOf('d.id', ids), values: ids };
}

/** Devices of a product by their serial numbers or ids. */
export function named(productKey: number, serialNumbers: readonly string[], ids: readonly string[]): Condition {
  const sql = `d.product_key = ? and (${isOneOf('d.serial_number', serialNumbers)} or ${isOneOf('d.id', ids)})`;
  return { sql, values: [productKey, ...serialNumbers, ...ids] };
}

/** Plain rows, in no order: as entities 500 take the event loop 20 ms, like this 2. What they are told may be long. */
export async function readDeviceRows(database: Database, { sql, values }: Condition): Promise<DeviceRow[]> {
  const bytes = bytesSql(database.dialect, 'd.configuration');
  const rows = await database.read().execute<BareRow[]>(
    `select d."key", d.id, p.id as "productId", d.name, d.serial_number as "serialNumber",
       d.write_rate as "writeRate", case when d.configuration is null then 0 else ${bytes} end as bytes
     from device d join product p on p."key" = d.product_key where ${sql}`,
    [...values],
  );
  const configured = rows.filter((row) => row.bytes !== 0);
  const configurations = await readConfigurations(database, configured);
  return rows.map(({ key, id, productId, name, serialNumber, writeRate }) => {
    return { key, id, productId, name, serialNumber, writeRate, configuration: configurations.get(key) ?? {} };
  });
}

async function readConfigurations(
  database: Database,
  rows: readonly BareRow[],
): Promise<Map<number, Record<string, unknown>>> {
  const found = new Map<number, Record<string, unknown>>();
  const text = database.dialect === 'sqlite' ? 'configuration' : 'configuration::text';
  for (const [at, piece] of inPieces(rows, BYTES_AT_ONCE).entries()) {
    if (at > 0) await giveWay();
    const keys = piece.map(({ key }) => key);
    const texts = await database
      .read()
      .execute<{ key: number; configuration: string | null }[]>(
        `select "key", ${text} as configuration from device where "key" in (${placeholders(keys)})`,
        keys,
      );
    for (const { key, configuration } of texts)
      if (configuration !== null) found.set(key, JSON.parse(configuration) as Record<string, unknown>);
  }
  return found;
}

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${placeholders(values)})`;
}

import type { Database, Dialect } from '../ports/database.ts';
import { must } from '../../must.ts';

/** Maximum devices read. */
const MOST = 1_000;

/** One of several devices of a workspace that have an EUI or core id. */
interface SharedRow {
  workspace: string;
  identity: string;
  serialNumber: string;
  name: string;
  product: string;
}

/**
 * SQL for the devices whose EUI or core id another one of their workspace shares (`SharedRow`), as was possible before
 * migration 0009.
 */
export function sharedIdentitiesSql(dialect: Dialect): string {
  const isHexadecimal = dialect === 'sqlite' ? "not glob '*[^0-9a-f]*'" : "!~ '[^0-9a-f]'";
  return (
    'select d.workspace_id as workspace, d.serial_folded as identity, d.serial_number as "serialNumber", d.name, ' +
    'p.name as product from (select workspace_id, serial_folded from device where length(serial_folded) in (16, 24) ' +
    `and serial_folded ${isHexadecimal} group by workspace_id, serial_folded having count(*) > 1) as shared ` +
    'join device d on d.workspace_id = shared.workspace_id and d.serial_folded = shared.serial_folded ' +
    'join product p on p."key" = d.product_key and p.deleted_at is null ' +
    `order by d.workspace_id, d.serial_folded, d."key" limit ${MOST}`
  );
}

/** A sentence for each EUI or core id that several of these devices share. */
export function sharedIdentityTexts(rows: readonly SharedRow[]): string[] {
  const groups = [...Map.groupBy(rows, ({ workspace, identity }) => `${workspace} ${identity}`).values()];
  return groups
    .filter((group) => group.length > 1)
    .map((group) => {
      const them = group.map(
        ({ name, serialNumber, product }) => `"${name}" (${serialNumber}) of the product "${product}"`,
      );
      return `${must(group[0]).identity} is the serial number of ${them.join(' and of ')}`;
    });
}

/** The same for a server's own database. */
export async function findSharedIdentities(database: Database): Promise<string[]> {
  return sharedIdentityTexts(await database.read().execute<SharedRow[]>(sharedIdentitiesSql(database.dialect)));
}

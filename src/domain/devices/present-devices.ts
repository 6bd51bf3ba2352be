import type { EntityManager } from '@mikro-orm/sql';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { Dialect } from '../ports/database.ts';
import { DEVICE_COLUMNS, type DeviceRecord } from './device-record.ts';

/** A device that is there, with the name of its product and its search text. */
export interface PresentDevice extends DeviceRecord {
  product_name: string;
  search_text: string;
}

/** Rows per statement. */
const AT_ONCE = 500;

/** The devices with these keys, in their order, held until the transaction ends unless `readOnly`. */
export async function readPresent(
  em: EntityManager,
  dialect: Dialect,
  keys: readonly number[],
  readOnly: boolean,
): Promise<Map<number, PresentDevice>> {
  const found = new Map<number, PresentDevice>();
  const turns = new TransactionSlices();
  const inOrder = keys.toSorted((one, other) => one - other);
  const held = dialect === 'postgres' && !readOnly ? ' for update of d' : '';
  for (let at = 0; at < inOrder.length; at += AT_ONCE) {
    const rows = await em.execute<PresentDevice[]>(
      `select ${DEVICE_COLUMNS}, d.search_text, p.name as product_name from device d join product p on p."key" = d.product_key ` +
        `where d."key" in (${inOrder.slice(at, at + AT_ONCE).join(', ')}) order by d."key"${held}`,
    );
    for (const row of rows) found.set(row.key, row);
    await turns.next();
  }
  return found;
}

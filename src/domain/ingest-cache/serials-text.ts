import type { Database } from '../ports/database.ts';
import type { ChargedTurns } from '../../scheduling/charged-turns.ts';
import { must } from '../../must.ts';

/** Devices read per slice. */
const SLICE = 2_000;
const BEHIND = `select d.id, d.serial_number as "serialNumber" from device d
  where d.product_key = ? and d.serial_number > ? order by d.serial_number limit ?`;

interface Row {
  id: string;
  serialNumber: string;
}

/**
 * JSON text of serial number → device id of all devices of a product, built slice by slice so that others run in
 * between. null: it would exceed the maximum of bytes.
 */
export async function serialsText(
  database: Database,
  turns: ChargedTurns,
  productKey: number,
  maxBytes: number,
): Promise<readonly Buffer[] | null> {
  const parts: Buffer[] = [];
  let bytes = 2;
  for (let behind = ''; ;) {
    const rows = await turns.run(async () => {
      const slice = await database.read().execute<Row[]>(BEHIND, [productKey, behind, SLICE]);
      const part = slice.map(({ serialNumber, id }) => `${JSON.stringify(serialNumber)}:"${id}"`).join(',');
      if (part !== '') parts.push(Buffer.from(`${parts.length === 0 ? '{' : ','}${part}`));
      bytes += parts.at(-1)?.length ?? 0;
      return slice;
    });
    if (bytes > maxBytes) return null;
    if (rows.length < SLICE) return [...parts, Buffer.from(parts.length === 0 ? '{}' : '}')];
    behind = must(rows.at(-1)).serialNumber;
  }
}

import type { Database } from '../database.ts';
import type { LoopTurns } from '../loop-turns.ts';

/** So many devices are read at once: about 3 ms. */
const SLICE = 2_000;
const BEHIND = `select d.id, d.serial_number as "serialNumber" from device d
  where d.product_key = ? and d.serial_number > ? order by d.serial_number limit ?`;

interface Row {
  id: string;
  serialNumber: string;
}

/**
 * JSON text of serial number → device id of all devices of a product, slice by slice: others have their turn in between.
 * null: it would have more bytes.
 */
export async function serialsText(
  database: Database,
  turns: LoopTurns,
  productKey: number,
  maxBytes: number,
): Promise<string | null> {
  const parts: string[] = [];
  let bytes = 2;
  for (let behind = ''; ;) {
    const rows = await turns.run(async () => {
      const slice = await database.read().execute<Row[]>(BEHIND, [productKey, behind, SLICE]);
      const part = slice.map(({ serialNumber, id }) => `${JSON.stringify(serialNumber)}:"${id}"`).join(',');
      if (part !== '') parts.push(part);
      bytes += Buffer.byteLength(part) + 1;
      return slice;
    });
    if (bytes > maxBytes) return null;
    if (rows.length < SLICE) return `{${parts.join(',')}}`;
    behind = rows.at(-1)!.serialNumber;
  }
}

import { LARGE_BYTES } from '../chunks/page.ts';
import { BASE, wholeReading } from '../readings/reading-parts.ts';

/** A row whose values, if they are large, are still to be fetched. */
export interface Sized {
  deviceKey?: number;
  timestamp: number;
  values: Buffer | null;
  size: number;
}

/** A row with its values. */
export type Whole<Row extends Sized> = Row & { values: Buffer };

/** Selects the values of a reading of the table unless they are large, and the size of all its values. */
export function sizedValues(table: string): string {
  return `CASE WHEN octet_length(packed) <= ${LARGE_BYTES} AND NOT has_parts THEN packed END,
    octet_length(packed) + CASE WHEN has_parts THEN ${ofParts('coalesce(sum(octet_length(packed)), 0)::int4', table)} ELSE 0 END`;
}

/** A reading with the values of its row, of its base, and its texts. */
export type LargeReading = [
  deviceKey: number,
  timestamp: number,
  packed: Buffer,
  base: Buffer | null,
  texts: Buffer | null,
];

/** Selects a `LargeReading` for each device ($1) and time ($2). */
export const LARGE_READINGS = `
  SELECT device_key, ts, packed, CASE WHEN has_parts THEN ${ofParts('packed', 'reading', `= ${BASE}`)} END,
    CASE WHEN has_parts THEN ${ofParts("string_agg(packed, '')", 'reading', `<> ${BASE}`)} END FROM reading
  WHERE (device_key, ts) IN (SELECT * FROM unnest($1::int4[], $2::int8[]))`;

/** Puts the values into the rows; a row without a device key belongs to `ofDevice`. */
export function putValues(rows: readonly Sized[], found: readonly LargeReading[], ofDevice: number): void {
  const values = new Map(
    found.map(([deviceKey, timestamp, ...values]) => [`${deviceKey} ${timestamp}`, wholeReading(...values)]),
  );
  // Outside a snapshot a row may be deleted meanwhile: it gets no values.
  for (const row of rows) row.values = values.get(`${row.deviceKey ?? ofDevice} ${row.timestamp}`) ?? Buffer.alloc(0);
}

function ofParts(column: string, table: string, which = 'IS NOT NULL'): string {
  return `(SELECT ${column} FROM reading_part AS apart
    WHERE apart.device_key = ${table}.device_key AND apart.ts = ${table}.ts AND part ${which})`;
}

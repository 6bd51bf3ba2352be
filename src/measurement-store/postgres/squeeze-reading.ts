import type pg from 'pg';
import { BASE, cutReading, MAX_RECENT_BYTES, mergePart, type Part } from '../readings/reading-parts.ts';
import { lastOfEach } from '../readings/reading-values.ts';
import { BinaryArray, BYTEA } from './binary-array.ts';

/** Asks one statement; resolves with its rows as arrays. */
type AskRows = (query: { text: string; values: unknown[]; rowMode: 'array' }) => Promise<unknown[][]>;

const LOOK = `
  SELECT packed, seq::text, (SELECT packed FROM reading_part WHERE device_key = $1 AND ts = $2 AND part = ${BASE})
  FROM reading WHERE device_key = $1 AND ts = $2`;
const PUT = 'ON CONFLICT (device_key, ts, part) DO UPDATE SET packed = excluded.packed';
/** Changes nothing if the reading was written again since. */
const SQUEEZE = `
  WITH own AS (UPDATE reading SET packed = $5, has_parts = has_parts OR $6
    WHERE device_key = $1 AND ts = $2 AND packed = $3 AND seq = $4::xid8 RETURNING 1)
  INSERT INTO reading_part (device_key, ts, part, packed)
  SELECT $1, $2, * FROM unnest($7::int4[], $8::bytea[]) WHERE EXISTS (SELECT FROM own) ${PUT}`;
const PUT_PARTS = `
  INSERT INTO reading_part (device_key, ts, part, packed)
  SELECT $1, * FROM unnest($2::int8[], $3::int4[], $4::bytea[]) ${PUT}`;

/** Drops overwritten values of a reading, and cuts it if it is still longer than `MAX_RECENT_BYTES`. */
export async function squeezeReading(ask: AskRows, deviceKey: number, timestamp: number): Promise<void> {
  const [row] = (await ask({ text: LOOK, values: [deviceKey, timestamp], rowMode: 'array' })) as [
    [values: Buffer, seq: string, base: Buffer | null] | undefined,
  ];
  if (row === undefined) return;
  const [values, seq, base] = row;
  const squeezed = lastOfEach(values, () => true);
  const isShort = squeezed.length <= MAX_RECENT_BYTES;
  if (isShort && squeezed.length === values.length) return;
  const { packed, parts } = isShort ? { packed: squeezed, parts: [] } : cutReading(squeezed);
  const merged = parts.map(([part, own]): Part => [part, base === null ? own : mergePart(part, base, own)]);
  const columns = [merged.map(([part]) => part), bytesOf(merged)];
  const asked = [deviceKey, timestamp, values, seq, packed, parts.length > 0, ...columns];
  await ask({ text: SQUEEZE, values: asked, rowMode: 'array' });
}

/** Squeezes each reading that the statement returns, in the transaction of the client. */
export async function squeezeLong(client: pg.ClientBase, text: string, values: unknown[]): Promise<void> {
  const ask: AskRows = async (query) => (await client.query<unknown[]>(query)).rows;
  const long = await ask({ text, values, rowMode: 'array' });
  for (const [deviceKey, timestamp] of long as [number, number][]) await squeezeReading(ask, deviceKey, timestamp);
}

/** Writes parts of a device's readings; existing ones are replaced. */
export async function putParts(
  client: pg.ClientBase,
  deviceKey: number,
  readings: readonly { timestamp: number; parts: readonly Part[] }[],
): Promise<void> {
  const all = readings.flatMap(({ timestamp, parts }) => parts.map((part) => ({ timestamp, part })));
  if (all.length === 0) return;
  const parts = all.map(({ part }) => part);
  const columns = [all.map(({ timestamp }) => timestamp), parts.map(([part]) => part), bytesOf(parts)];
  await client.query(PUT_PARTS, [deviceKey, ...columns]);
}

function bytesOf(parts: readonly Part[]): Buffer {
  const array = new BinaryArray(BYTEA);
  for (const [, packed] of parts) array.addBytes(packed);
  return array.toBuffer();
}

import type pg from 'pg';
import { type Batch, heardAtOf, storedAgainAt, storedAtOf } from '../../domain/ports/store.ts';
import { MAX_NEW_BYTES } from '../readings/reading-parts.ts';
import { maxValuesBytes, writeValues } from '../readings/reading-values.ts';
import { eachMoment } from '../readings/time-order.ts';
import { BinaryArray, BYTEA, INT4, INT8 } from './binary-array.ts';
import { hearing } from './postgres-flush.ts';
import { squeezeLong } from './squeeze-reading.ts';

/** Appends the values, as a flush does, and returns the readings to be squeezed. */
const WRITE = `
  WITH rows AS (INSERT INTO reading (device_key, ts, stored_at, packed)
    SELECT * FROM unnest($1::int4[], $2::int8[], $3::int8[], $4::bytea[])
    ON CONFLICT (device_key, ts) DO UPDATE SET packed = reading.packed || excluded.packed, seq = excluded.seq,
      stored_at = greatest(reading.stored_at,
        CASE WHEN reading.stored_at > 0 THEN abs(excluded.stored_at) ELSE excluded.stored_at END)
    RETURNING device_key, ts, octet_length(packed) AS bytes)
  SELECT device_key, ts FROM rows WHERE bytes > ${MAX_NEW_BYTES}`;
const HEAR = hearing('SELECT * FROM unnest($1::int4[], $2::int8[])');

/** The devices of the batches were heard when these were received, or later. */
export async function hearOf(client: pg.ClientBase, batches: readonly Batch[]): Promise<void> {
  const heard = new Map<number, number>();
  for (const { deviceKey, receivedAt } of batches)
    heard.set(deviceKey, Math.max(heardAtOf(receivedAt), heard.get(deviceKey) ?? -Infinity));
  const inOrder = [...heard].sort(([a], [b]) => a - b);
  await client.query(HEAR, [inOrder.map(([deviceKey]) => deviceKey), inOrder.map(([, at]) => at)]);
}

/** Writes the values of the batches over what is there, in the order of the batches. */
export async function writeOver(client: pg.ClientBase, batches: readonly Batch[]): Promise<void> {
  const now = Date.now();
  const moments = new Map<string, { deviceKey: number; timestamp: number; storedAt: number; values: Buffer[] }>();
  for (const batch of batches) {
    const { deviceKey, receivedAt } = batch;
    const storedAt = storedAtOf(receivedAt, now);
    const bytes = Buffer.allocUnsafe(maxValuesBytes(batch.values));
    let end = 0;
    eachMoment(batch, (timestamp, order, from, to) => {
      const start = end;
      end = writeValues(bytes, start, batch, order, from, to);
      const key = `${deviceKey} ${timestamp}`;
      const before = moments.get(key);
      if (before === undefined)
        moments.set(key, { deviceKey, timestamp, storedAt, values: [bytes.subarray(start, end)] });
      else {
        before.storedAt = storedAgainAt(before.storedAt, storedAt);
        before.values.push(bytes.subarray(start, end));
      }
    });
  }
  const inOrder = [...moments.values()].sort((a, b) => a.deviceKey - b.deviceKey || a.timestamp - b.timestamp);
  const [devices, times, stored, values] = [INT4, INT8, INT8, BYTEA].map((type) => new BinaryArray(type)) as [
    BinaryArray,
    BinaryArray,
    BinaryArray,
    BinaryArray,
  ];
  for (const moment of inOrder) {
    devices.addInt4(moment.deviceKey);
    times.addInt8(moment.timestamp);
    stored.addInt8(moment.storedAt);
    values.addBytes(Buffer.concat(moment.values));
  }
  const arrays = [devices, times, stored, values].map((array) => array.toBuffer());
  await squeezeLong(client, WRITE, arrays);
}

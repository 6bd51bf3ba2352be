import type pg from 'pg';
import type { Change } from '../chunks/edit.ts';
import { packSummary } from '../chunks/summary-bytes.ts';
import { eachFrame } from '../readings/reading-frames.ts';
import { BinaryArray, BYTEA, INT8 } from './binary-array.ts';
import { hearing } from './postgres-flush.ts';

const DELETE_CHUNKS = `
  DELETE FROM chunk USING unnest($2::int4[], $3::int8[]) AS gone (field_key, first_at)
  WHERE chunk.device_key = $1 AND chunk.field_key = gone.field_key AND chunk.first_at = gone.first_at`;
const INSERT_CHUNKS = `
  INSERT INTO chunk (device_key, field_key, first_at, last_at, count, summary, packed)
  SELECT $1, * FROM unnest($2::int4[], $3::int8[], $4::int8[], $5::int4[], $6::bytea[], $7::bytea[])`;
/** The times from the first to the last: else the planner may look at every reading of the device. */
const AMONG = 'reading.device_key = $1 AND reading.ts BETWEEN $2 AND $3';
/** In the order in which a flush writes to them, else each could wait for the other. */
const LOCK_READINGS = `
  SELECT 1 FROM reading WHERE ${AMONG} AND reading.ts = ANY($4::int8[]) ORDER BY reading.ts FOR UPDATE`;
const DELETE_READINGS = `
  DELETE FROM reading USING unnest($4::int8[], $5::text[]) AS gone (ts, seq)
  WHERE ${AMONG} AND reading.ts = gone.ts AND reading.seq = gone.seq::xid8`;
const UPDATE_READINGS = `
  UPDATE reading SET packed = changed.packed FROM unnest($4::int8[], $5::text[], $6::bytea[]) AS changed (ts, seq, packed)
  WHERE ${AMONG} AND reading.ts = changed.ts AND reading.seq = changed.seq::xid8`;

/** What is there already is put behind, where it counts. */
const FILL = `
  INSERT INTO reading (device_key, ts, stored_at, packed)
  SELECT $1, ts, $2, packed FROM unnest($3::int8[], $4::bytea[]) AS given (ts, packed)
  ON CONFLICT (device_key, ts) DO UPDATE SET packed = excluded.packed || reading.packed, seq = excluded.seq,
    stored_at = greatest(reading.stored_at, excluded.stored_at)`;
const HEAR = hearing('VALUES ($1, $2)');

const MOVE_HORIZON = 'UPDATE live_horizon SET seq = $1::xid8 WHERE seq < $1::xid8';

/**
 * Writes what a slice of an edit changes, inside the transaction of the caller. Returns how many of its readings had
 * been written again in the meantime: those are as they were.
 */
export async function writeChange(
  client: pg.ClientBase,
  { deviceKey, movedUpTo, readings, filled, chunksGone, chunksNew }: Change,
): Promise<number> {
  if (movedUpTo !== null) await client.query(MOVE_HORIZON, [String(movedUpTo)]);
  const change = async (text: string, values: unknown[]): Promise<number> =>
    (await client.query(text, [deviceKey, ...values])).rowCount ?? 0;
  if (chunksGone.length > 0)
    await change(DELETE_CHUNKS, [chunksGone.map((chunk) => chunk.fieldKey), chunksGone.map((chunk) => chunk.firstAt)]);
  if (chunksNew.length > 0)
    await change(INSERT_CHUNKS, [
      chunksNew.map((chunk) => chunk.fieldKey),
      chunksNew.map((chunk) => chunk.firstAt),
      chunksNew.map((chunk) => chunk.lastAt),
      chunksNew.map((chunk) => chunk.count),
      byteArray(chunksNew.map((chunk) => chunk.summary && packSummary(chunk.summary))),
      byteArray(chunksNew.map((chunk) => chunk.bytes)),
    ]);
  if (filled !== null) await fill(client, filled);
  const gone = readings.filter((reading) => reading.values === null);
  const changed = readings.filter((reading) => reading.values !== null);
  let written = 0;
  // Each of the two alone goes along the index.
  if (gone.length > 0 && changed.length > 0) await change(LOCK_READINGS, keys(readings).slice(0, 3));
  if (gone.length > 0) written += await change(DELETE_READINGS, keys(gone));
  if (changed.length > 0)
    written += await change(UPDATE_READINGS, [...keys(changed), byteArray(changed.map((reading) => reading.values))]);
  return readings.length - written;
}

/** Heard first: a flush, too, locks that before its readings, else each could wait for the other. */
async function fill(client: pg.ClientBase, { buffer, byteOffset, length }: Uint8Array): Promise<void> {
  const frames = Buffer.from(buffer, byteOffset, length);
  const heard: number[] = [];
  const [times, values] = [new BinaryArray(INT8), new BinaryArray(BYTEA)];
  eachFrame(
    frames,
    (deviceKey, heardAt) => heard.push(deviceKey, heardAt),
    (_, timestamp, start, end) => {
      times.addInt8(timestamp);
      values.addBytes(frames.subarray(start, end));
    },
  );
  await client.query(HEAR, heard);
  await client.query(FILL, [heard[0], Date.now(), times.toBuffer(), values.toBuffer()]);
}

/** First and last time, and of each reading time and seq. */
function keys(readings: Change['readings']): [number, number, number[], string[]] {
  const times = readings.map((reading) => reading.timestamp);
  let [first, last] = [Infinity, -Infinity];
  for (const time of times) [first, last] = [Math.min(first, time), Math.max(last, time)];
  return [first, last, times, readings.map((reading) => String(reading.seq))];
}

function byteArray(values: (Uint8Array | null)[]): Buffer {
  const array = new BinaryArray(BYTEA);
  for (const value of values) {
    if (value === null) array.addNull();
    else array.addBytes(value);
  }
  return array.toBuffer();
}

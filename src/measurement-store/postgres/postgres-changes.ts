import type pg from 'pg';
import type { Change } from '../chunks/edit.ts';
import { packSummary } from '../chunks/summary-bytes.ts';
import { eachFrame } from '../readings/reading-frames.ts';
import { BASE, cutIfLong, cutReading, MAX_NEW_BYTES } from '../readings/reading-parts.ts';
import { BinaryArray, BYTEA } from './binary-array.ts';
import { hearing } from './postgres-flush.ts';
import { putParts, squeezeLong } from './squeeze-reading.ts';
import { must } from '../../must.ts';

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
/** Returns the readings found, and whether each had parts. */
const DELETE_READINGS = `
  DELETE FROM reading USING unnest($4::int8[], $5::text[]) AS gone (ts, seq)
  WHERE ${AMONG} AND reading.ts = gone.ts AND reading.seq = gone.seq::xid8 RETURNING reading.ts, has_parts`;
const UPDATE_READINGS = `
  UPDATE reading SET packed = changed.packed, has_parts = has_parts OR is_cut
  FROM unnest($4::int8[], $5::text[], $6::bytea[], $7::bool[]) AS changed (ts, seq, packed, is_cut)
  WHERE ${AMONG} AND reading.ts = changed.ts AND reading.seq = changed.seq::xid8 RETURNING reading.ts, has_parts`;
const DELETE_PARTS = 'DELETE FROM reading_part WHERE device_key = $1 AND ts = ANY($2::int8[])';

/** Fills values in below the existing ones: in front of them in the row, or below the parts of a reading that has some. */
const FILL = `
  WITH given AS (SELECT * FROM unnest($3::int8[], $4::bytea[], $5::bytea[], $6::int4[], $7::bytea[])
    AS given (ts, packed, rest, part, text)),
  rows AS (INSERT INTO reading (device_key, ts, stored_at, packed) SELECT $1, ts, $2, packed FROM given
    ON CONFLICT (device_key, ts) DO UPDATE SET seq = excluded.seq, stored_at = greatest(reading.stored_at, excluded.stored_at),
      packed = CASE WHEN reading.has_parts THEN reading.packed ELSE excluded.packed || reading.packed END
    RETURNING device_key, ts, octet_length(packed) AS bytes, has_parts),
  parts AS (INSERT INTO reading_part (device_key, ts, part, packed)
    SELECT device_key, ts, ${BASE}, rest FROM rows JOIN given USING (ts) WHERE has_parts
    UNION ALL SELECT device_key, ts, part, text FROM rows JOIN given USING (ts) WHERE has_parts AND text IS NOT NULL
    ON CONFLICT (device_key, ts, part) DO UPDATE
      SET packed = CASE WHEN reading_part.part = ${BASE} THEN excluded.packed ELSE '' END || reading_part.packed)
  SELECT device_key, ts FROM rows WHERE bytes > ${MAX_NEW_BYTES}`;
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
  const change = async (text: string, values: unknown[]): Promise<Found[]> =>
    (await client.query<Found>({ text, values: [deviceKey, ...values], rowMode: 'array' })).rows;
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
  const found: Found[] = [];
  // Each of the two alone goes along the index.
  if (gone.length > 0 && changed.length > 0) await change(LOCK_READINGS, keys(readings).slice(0, 3));
  if (gone.length > 0) found.push(...(await change(DELETE_READINGS, keys(gone))));
  const cut = changed.map(({ timestamp, values }) => ({ timestamp, ...cutIfLong(toBuffer(must(values))) }));
  if (changed.length > 0) {
    const packed = byteArray(cut.map((reading) => reading.packed));
    const areCut = cut.map(({ parts }) => parts.length > 0);
    found.push(...(await change(UPDATE_READINGS, [...keys(changed), packed, areCut])));
  }
  const withParts = new Set(found.flatMap(([timestamp, hasParts]) => (hasParts ? [timestamp] : [])));
  if (withParts.size > 0) await change(DELETE_PARTS, [[...withParts]]);
  await putParts(client, deviceKey, cut.filter(({ timestamp }) => withParts.has(timestamp))); // oxfmt-ignore
  return readings.length - found.length;
}

type Found = [timestamp: number, hasParts: boolean];

/** Heard first: a flush, too, locks that before its readings, else each could wait for the other. */
async function fill(client: pg.ClientBase, filled: Uint8Array): Promise<void> {
  const frames = toBuffer(filled);
  const heard: number[] = [];
  const times: number[] = [];
  const values: Buffer[] = [];
  eachFrame(
    frames,
    (deviceKey, heardAt) => heard.push(deviceKey, heardAt),
    (_, timestamp, start, end) => {
      times.push(timestamp);
      values.push(frames.subarray(start, end));
    },
  );
  await client.query(HEAR, heard);
  // A filled reading has one value, so a cut yields at most one text.
  const cut = values.map(cutReading);
  const texts = cut.map(({ parts }) => parts[0]);
  await squeezeLong(client, FILL, [
    heard[0],
    Date.now(),
    times,
    byteArray(values),
    byteArray(cut.map(({ packed }) => packed)),
    texts.map((text) => text?.[0] ?? null),
    byteArray(texts.map((text) => text?.[1] ?? null)),
  ]);
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
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

import type pg from 'pg';
import { type Batch, type CallRow, storedAgainAt, storedAtOf, type StoredValue } from '../../domain/ports/store.ts';
import { CALL_COLUMNS } from '../call-columns.ts';
import { MAX_NEW_BYTES, MAX_RECENT_BYTES } from '../readings/reading-parts.ts';
import { maxValuesBytes, writeValues } from '../readings/reading-values.ts';
import { type BatchColumns, eachMoment } from '../readings/time-order.ts';
import { BinaryArray, BOOL, BYTEA, INT4, INT8, TEXT } from './binary-array.ts';
import type { Heard } from './heard-devices.ts';
import { must } from '../../must.ts';

const INSERT = `
  INSERT INTO reading (device_key, ts, stored_at, packed)
  SELECT * FROM unnest($1::int4[], $2::int8[], $6::int8[], $3::bytea[])`;
/**
 * What is put behind counts. A row that was there has been locked to be written over; a new one nobody has. A live one
 * stays so, and is as new as its place in the order of commits: what is moved into chunks takes all before it along.
 */
const MERGE = `${INSERT}
  ON CONFLICT (device_key, ts) DO UPDATE SET packed = reading.packed || excluded.packed, seq = excluded.seq,
    stored_at = greatest(reading.stored_at,
      CASE WHEN reading.stored_at > 0 THEN abs(excluded.stored_at) ELSE excluded.stored_at END)
  RETURNING device_key, ts, octet_length(packed) AS bytes, xmax <> 0 AS was_there`;
/** The devices with their receipt times: a later one stays. */
export const hearing = (devices: string): string => `
  INSERT INTO device_state (device_key, last_heard_at) ${devices}
  ON CONFLICT (device_key) DO UPDATE SET last_heard_at = excluded.last_heard_at
  WHERE device_state.last_heard_at < excluded.last_heard_at`;
const DEVICE_STATES = hearing('SELECT * FROM unnest($4::int4[], $5::int8[])');
/** Type, cast and writer of each of `CALL_COLUMNS`. */
const CALLS_COLUMNS: readonly [type: number, cast: string, add: (array: BinaryArray, call: CallRow) => void][] = [
  [TEXT, 'text', (array, call) => array.addText(call.id)],
  [INT4, 'int4', (array, call) => array.addInt4(call.productKey)],
  [INT8, 'int8', (array, call) => array.addInt8(call.receivedAt)],
  [TEXT, 'text', (array, call) => array.addText(withoutNul(call.method))],
  [TEXT, 'text', (array, call) => array.addText(withoutNul(call.path))],
  [TEXT, 'text', (array, call) => array.addText(withoutNul(call.query))],
  [TEXT, 'text', (array, call) => array.addText(withoutNul(call.headers))],
  [BYTEA, 'bytea', (array, call) => array.addText(call.body)],
  [BOOL, 'bool', (array, call) => array.addBool(call.bodyTruncated)],
  [TEXT, 'text', (array, call) => array.addText(call.status)],
  [INT4, 'int4', (array, call) => array.addInt4(call.httpStatus)],
  [
    INT4,
    'int4',
    (array, { decoderVersion }) => (decoderVersion === null ? array.addNull() : array.addInt4(decoderVersion)),
  ],
  [TEXT, 'text', (array, { run }) => (run === null ? array.addNull() : array.addText(withoutNul(run)))],
  [TEXT, 'text', (array, { stored }) => (stored === null ? array.addNull() : array.addText(stored))],
];
const CALLS = `
  INSERT INTO webhook_call (${CALL_COLUMNS.join(', ')})
  SELECT * FROM unnest(${CALLS_COLUMNS.map(([, cast], i) => `$${i + 7}::${cast}[]`).join(', ')})
  ON CONFLICT (product_key, id) DO NOTHING`;

/** One statement is one transaction and one round trip. */
const withoutCalls = (rows: string): string => `WITH rows AS (${rows}) ${DEVICE_STATES}`;
const withCalls = (rows: string): string => `WITH rows AS (${rows}), heard AS (${DEVICE_STATES}) ${CALLS}`;
/** Asked for before the first row: whoever locks devices and readings, locks the devices first (`postgres-changes.ts`). */
const HEARD_FIRST = `heard AS (${DEVICE_STATES} RETURNING 1)`;
const LARGE = `SELECT device_key, ts, bytes FROM rows
  WHERE (SELECT count(*) FROM heard) >= 0
    AND bytes > CASE WHEN was_there THEN ${MAX_RECENT_BYTES} ELSE ${MAX_NEW_BYTES} END`;
const STATEMENTS = {
  insert: { name: 'inlet-insert', text: withoutCalls(INSERT) },
  insertWithCalls: { name: 'inlet-insert-calls', text: withCalls(INSERT) },
  merge: { name: 'inlet-merge', text: `WITH rows AS (${MERGE}), ${HEARD_FIRST} ${LARGE}` },
  mergeWithCalls: {
    name: 'inlet-merge-calls',
    text: `WITH rows AS (${MERGE}), ${HEARD_FIRST}, calls AS (${CALLS}) ${LARGE}`,
  },
};

/** A reading to be squeezed, with its bytes. */
export type LongReading = [deviceKey: number, timestamp: number, bytes: number];

/** Turns receipts into the one statement that stores them. Used again for a later flush, its memory too. */
export class PostgresFlush {
  /** One for each parameter of the statements, in their order. */
  readonly #arrays = {
    devices: new BinaryArray(INT4),
    timestamps: new BinaryArray(INT8),
    readings: new BinaryArray(BYTEA),
    heardDevices: new BinaryArray(INT4),
    heardAt: new BinaryArray(INT8),
    storedAt: new BinaryArray(INT8),
  };
  /** Readings longer than `MAX_NEW_BYTES`. */
  #long: LongReading[] = [];
  #deviceKeys: number[] = [];
  #values: unknown[] = [];
  #hasCalls = false;

  /**
   * The readings, and the devices that are heard, are in order of their keys, so that two nodes never wait for each other
   * in a circle, and every key is there once, as a statement takes it only once.
   */
  fill(batches: Batch[], calls: CallRow[], heard: Heard[], now: number): void {
    const arrays = Object.values(this.#arrays);
    for (const array of arrays) array.clear();
    this.#long = [];
    this.#deviceKeys = [];
    const sorted = batches.toSorted((a, b) => a.deviceKey - b.deviceKey);
    for (let i = 0; i < sorted.length;) {
      const first = must(sorted[i]);
      let end = i + 1;
      while (sorted[end]?.deviceKey === first.deviceKey) end++;
      this.#addDevice(sorted.slice(i, end), now);
      i = end;
    }
    for (const [deviceKey, at] of heard) {
      this.#arrays.heardDevices.addInt4(deviceKey);
      this.#arrays.heardAt.addInt8(at);
    }
    this.#values = arrays.map((array) => array.toBuffer());
    this.#hasCalls = calls.length > 0;
    if (this.#hasCalls) this.#values.push(...callArrays(calls));
  }

  /** Devices that it has readings of, each once. */
  get deviceKeys(): readonly number[] {
    return this.#deviceKeys;
  }

  /** The readings to be squeezed after an insert. */
  get long(): readonly LongReading[] {
    return this.#long;
  }

  /**
   * The statement that stores what was filled in. `merging`: it merges with existing readings and returns those to be
   * squeezed; otherwise an existing key fails it as a whole.
   */
  statement(merging: boolean): pg.QueryConfig {
    const kind = merging ? 'merge' : 'insert';
    return { ...STATEMENTS[this.#hasCalls ? (`${kind}WithCalls` as const) : kind], values: this.#values };
  }

  #addDevice(batches: readonly Batch[], now: number): void {
    const batch = batches.length === 1 ? must(batches[0]) : joinBatches(batches);
    this.#deviceKeys.push(batch.deviceKey);
    const storedAt = storageTimes(batches, now);
    eachMoment(batch, (timestamp, order, from, to) => {
      this.#arrays.devices.addInt4(batch.deviceKey);
      this.#arrays.timestamps.addInt8(timestamp);
      this.#arrays.storedAt.addInt8(storedAt(order, from, to));
      const most = mostBytes(batch, order, from, to);
      const bytes = this.#arrays.readings.addWritten(most, (target, at) =>
        writeValues(target, at, batch, order, from, to),
      );
      if (bytes > MAX_NEW_BYTES) this.#long.push([batch.deviceKey, timestamp, bytes]);
    });
  }
}

function mostBytes({ values }: BatchColumns, order: ArrayLike<number>, from: number, to: number): number {
  if (to - from === values.length) return maxValuesBytes(values);
  const some: StoredValue[] = [];
  for (let i = from; i < to; i++) some.push(must(values[must(order[i])]));
  return maxValuesBytes(some);
}

/** Storage time of a moment of the batches one behind the other: it is published if a batch is that has it. */
function storageTimes(
  batches: readonly Batch[],
  now: number,
): (order: ArrayLike<number>, from: number, to: number) => number {
  const times = batches.map(({ receivedAt }) => storedAtOf(receivedAt, now));
  const [first = now] = times;
  if (times.every((time) => time === first)) return () => first;
  const ofValues = batches.flatMap(({ values }, at) => values.map(() => must(times[at])));
  return (order, from, to) => {
    let storedAt = -Infinity;
    for (let i = from; i < to; i++) storedAt = storedAgainAt(storedAt, must(ofValues[must(order[i])]));
    return storedAt;
  };
}

/** The batches of one device as one, in commit order. */
function joinBatches(batches: readonly Batch[]): Batch {
  const fieldKeys: number[] = [];
  const timestamps: number[] = [];
  const values: StoredValue[] = [];
  let receivedAt = -Infinity;
  for (const batch of batches) {
    receivedAt = Math.max(receivedAt, batch.receivedAt);
    for (let i = 0; i < batch.fieldKeys.length; i++) {
      fieldKeys.push(must(batch.fieldKeys[i]));
      timestamps.push(must(batch.timestamps[i]));
      values.push(must(batch.values[i]));
    }
  }
  return { deviceKey: must(batches[0]).deviceKey, receivedAt, fieldKeys, timestamps, values };
}

/** By id, each once: repeated ids in one statement are left out by DO NOTHING as well. */
function callArrays(calls: CallRow[]): Buffer[] {
  return CALLS_COLUMNS.map(([type, , add]) => {
    const array = new BinaryArray(type);
    for (const call of calls) add(array, call);
    return array.toBuffer();
  });
}

/** PostgreSQL's text has no NUL. Only a body can really have one, and that is a bytea. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

import type pg from 'pg';
import type { Batch, CallRow, StoredValue } from '../domain/measurements/store.ts';
import { BinaryArray, BOOL, BYTEA, FLOAT8, INT4, INT8, TEXT } from './binary-array.ts';
import { CALL_COLUMNS } from './call-columns.ts';
import { keyOrder } from './key-order.ts';

/** Shorter columns are filled with nulls by unnest: a flush without any text leaves `text` empty. */
const INSERT = `
  INSERT INTO measurement (device_key, field_key, ts, number, text)
  SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::float8[], $5::text[])`;
const REPLACE = `${INSERT}
  ON CONFLICT (device_key, field_key, ts) DO UPDATE SET number = excluded.number, text = excluded.text`;
const DEVICE_STATES = `
  INSERT INTO device_state (device_key, last_heard_at)
  SELECT * FROM unnest($6::int4[], $7::int8[])
  ON CONFLICT (device_key) DO UPDATE SET last_heard_at = excluded.last_heard_at
  WHERE device_state.last_heard_at < excluded.last_heard_at`;
const CALL_TYPES = [TEXT, INT4, INT8, TEXT, TEXT, TEXT, TEXT, BYTEA, BOOL, TEXT, INT4, INT4, TEXT];
const CALL_CASTS = ['text', 'int4', 'int8', 'text', 'text', 'text', 'text', 'bytea', 'bool', 'text', 'int4', 'int4'];
const CALLS = `
  INSERT INTO webhook_call (${CALL_COLUMNS.join(', ')})
  SELECT * FROM unnest(${[...CALL_CASTS, 'text'].map((type, i) => `$${i + 8}::${type}[]`).join(', ')})
  ON CONFLICT (product_key, id) DO NOTHING`;

/** One statement is one transaction and one round trip. */
const withoutCalls = (rows: string): string => `WITH rows AS (${rows}) ${DEVICE_STATES}`;
const withCalls = (rows: string): string => `WITH rows AS (${rows}), heard AS (${DEVICE_STATES}) ${CALLS}`;
const STATEMENTS = {
  insert: { name: 'inlet-insert', text: withoutCalls(INSERT) },
  replace: { name: 'inlet-replace', text: withoutCalls(REPLACE) },
  insertWithCalls: { name: 'inlet-insert-calls', text: withCalls(INSERT) },
  replaceWithCalls: { name: 'inlet-replace-calls', text: withCalls(REPLACE) },
};

/** Turns receipts into the one statement that stores them. Used again for a later flush, its memory too. */
export class PostgresFlush {
  readonly #devices = new BinaryArray(INT4);
  readonly #fields = new BinaryArray(INT4);
  readonly #timestamps = new BinaryArray(INT8);
  readonly #numbers = new BinaryArray(FLOAT8);
  readonly #texts = new BinaryArray(TEXT);
  readonly #heardDevices = new BinaryArray(INT4);
  readonly #heardAt = new BinaryArray(INT8);
  #values: Buffer[] = [];
  #hasCalls = false;

  /**
   * The rows are in order of their keys, so that two nodes never wait for each other in a circle, and every key is
   * there once, with its last value, as a statement takes it only once.
   */
  fill(batches: Batch[], calls: CallRow[]): void {
    this.#clear();
    const sorted = batches.toSorted((a, b) => a.deviceKey - b.deviceKey);
    let texts = false;
    for (let i = 0; i < sorted.length;) {
      const first = sorted[i]!;
      let end = i + 1;
      while (sorted[end]?.deviceKey === first.deviceKey) end++;
      texts = this.#addDevice(end === i + 1 ? first : merge(sorted.slice(i, end)), texts);
      i = end;
    }
    if (!texts) this.#texts.clear();
    const columns = [this.#devices, this.#fields, this.#timestamps, this.#numbers, this.#texts];
    this.#values = [...columns, this.#heardDevices, this.#heardAt].map((array) => array.toBuffer());
    this.#hasCalls = calls.length > 0;
    if (this.#hasCalls) this.#values.push(...callArrays(calls));
  }

  /** Stores what was filled in. `replacing` values of keys that exist; else such a key fails it as a whole. */
  statement(replacing: boolean): pg.QueryConfig {
    const kind = replacing ? 'replace' : 'insert';
    return { ...STATEMENTS[this.#hasCalls ? (`${kind}WithCalls` as const) : kind], values: this.#values };
  }

  #addDevice(batch: Batch, textsBefore: boolean): boolean {
    const { deviceKey, fieldKeys, timestamps, values } = batch;
    let texts = textsBefore;
    for (const row of keyOrder(fieldKeys, timestamps, fieldKeys.length)) {
      const value = values[row]!;
      this.#devices.addInt4(deviceKey);
      this.#fields.addInt4(fieldKeys[row]!);
      this.#timestamps.addInt8(timestamps[row]!);
      if (typeof value === 'number') {
        this.#numbers.addFloat8(value);
        this.#texts.addNull();
      } else {
        this.#numbers.addNull();
        this.#texts.addText(value);
        texts = true;
      }
    }
    this.#heardDevices.addInt4(deviceKey);
    this.#heardAt.addInt8(batch.receivedAt);
    return texts;
  }

  #clear(): void {
    for (const array of [this.#devices, this.#fields, this.#timestamps, this.#numbers, this.#texts]) array.clear();
    this.#heardDevices.clear();
    this.#heardAt.clear();
  }
}

/** The batches of one device as one, in commit order. */
function merge(batches: Batch[]): Batch {
  const fieldKeys: number[] = [];
  const timestamps: number[] = [];
  const values: StoredValue[] = [];
  let receivedAt = -Infinity;
  for (const batch of batches) {
    receivedAt = Math.max(receivedAt, batch.receivedAt);
    for (let i = 0; i < batch.fieldKeys.length; i++) {
      fieldKeys.push(batch.fieldKeys[i]!);
      timestamps.push(batch.timestamps[i]!);
      values.push(batch.values[i]!);
    }
  }
  return { deviceKey: batches[0]!.deviceKey, receivedAt, fieldKeys, timestamps, values };
}

/** By id, each once: repeated ids in one statement are left out by DO NOTHING as well. */
function callArrays(calls: CallRow[]): Buffer[] {
  const arrays = CALL_TYPES.map((type) => new BinaryArray(type));
  const [id, product, received, method, path, query, headers, body, truncated, status, http, version, run] = arrays as [
    BinaryArray,
    ...BinaryArray[],
  ] &
    Record<number, BinaryArray>;
  for (const call of calls) {
    id.addText(call.id);
    product!.addInt4(call.productKey);
    received!.addInt8(call.receivedAt);
    method!.addText(withoutNul(call.method));
    path!.addText(withoutNul(call.path));
    query!.addText(withoutNul(call.query));
    headers!.addText(withoutNul(call.headers));
    body!.addText(call.body);
    truncated!.addBool(call.bodyTruncated);
    status!.addText(call.status);
    http!.addInt4(call.httpStatus);
    if (call.decoderVersion === null) version!.addNull();
    else version!.addInt4(call.decoderVersion);
    if (call.run === null) run!.addNull();
    else run!.addText(withoutNul(call.run));
  }
  return arrays.map((array) => array.toBuffer());
}

/** PostgreSQL's text has no NUL. Only a body can really have one, and that is a bytea. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}

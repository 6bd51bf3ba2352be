import type pg from 'pg';
import type { CallCount, CallOutcome, CallQuery, CallRow, DeviceKeys, SharedValue } from '../../domain/ports/store.ts';
import {
  CALL_COLUMNS,
  callCount,
  type CallRecord,
  callSelect,
  toCallCount,
  toCallRow,
  type OthersRow,
  othersOf,
} from '../call-columns.ts';
import { toBigint } from './to-bigint.ts';

const CALLS_A_CHUNK = 500;
const UPDATE = `UPDATE webhook_call AS call
  SET status = new.status, decoder_version = new.decoder_version, run = new.run, stored = new.stored
  FROM unnest($1::int4[], $2::text[], $3::text[], $4::int4[], $5::text[], $6::text[])
       AS new (product_key, id, status, decoder_version, run, stored)
  WHERE call.product_key = new.product_key AND call.id = new.id`;

const OTHERS = `SELECT shared.device_key AS "deviceKey", shared.field_key AS "fieldKey", shared.ts, others
  FROM unnest($1::int4[], $2::int4[], $3::int8[]) AS asked (device_key, field_key, ts)
  JOIN shared_value AS shared USING (device_key, field_key, ts)`;
const SHARE = `INSERT INTO shared_value (device_key, field_key, ts, others, received_at)
  SELECT * FROM unnest($1::int4[], $2::int4[], $3::int8[], $4::int4[], $5::int8[])
  ON CONFLICT (device_key, ts, field_key) DO UPDATE
  SET others = excluded.others, received_at = greatest(shared_value.received_at, excluded.received_at)`;
const SHARE_NO_MORE =
  'DELETE FROM shared_value WHERE others = 0 AND device_key = ANY($1::int4[]) AND ts = ANY($2::int8[])';
const REMOVE_SHARED = `DELETE FROM shared_value WHERE (device_key, ts, field_key) IN
  (SELECT device_key, ts, field_key FROM shared_value WHERE received_at < $1 LIMIT 5000)`;

/** Writes the number of replayed calls behind each value. */
export async function shareValues(client: Pick<pg.ClientBase, 'query'>, shared: readonly SharedValue[]): Promise<void> {
  if (shared.length === 0) return;
  // Each could wait for the other, in another order.
  const inOrder = shared.toSorted(
    (a, b) => a.deviceKey - b.deviceKey || a.timestamp - b.timestamp || a.fieldKey - b.fieldKey,
  );
  const [devices, times] = [inOrder.map(({ deviceKey }) => deviceKey), inOrder.map(({ timestamp }) => timestamp)];
  const fields = inOrder.map(({ fieldKey }) => fieldKey);
  const others = inOrder.map((value) => value.others);
  await client.query(SHARE, [devices, fields, times, others, inOrder.map(({ receivedAt }) => receivedAt)]);
  if (others.includes(0)) await client.query(SHARE_NO_MORE, [devices, times]);
}

/** Rewrites the outcomes of calls, by one statement. */
export async function updateCalls(client: Pick<pg.ClientBase, 'query'>, calls: CallOutcome[]): Promise<void> {
  await client.query(UPDATE, [
    calls.map(({ productKey }) => productKey),
    calls.map(({ id }) => id),
    calls.map(({ status }) => status),
    calls.map(({ decoderVersion }) => decoderVersion),
    calls.map(({ run }) => run),
    calls.map(({ stored }) => stored),
  ]);
}

type PostgresCallRecord = CallRecord & { body: Buffer; body_truncated: boolean };

/** Reads and changes of the call log; calls are added by the flush that stores their measurements. */
export class PostgresCallLog {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  find(query: CallQuery): Promise<CallRow[]> {
    const { sql, values } = callSelect(query, (n) => `$${n}`);
    return this.#select(sql, values);
  }

  async count(query: CallQuery): Promise<CallCount> {
    const { sql, values } = callCount(query, (n) => `$${n}`);
    const { rows } = await this.#pool.query<{ count: string; first: string | null; last: string | null }>(sql, values);
    return toCallCount(rows[0]);
  }

  /** Of each device, in the order of its keys. */
  async others(keys: readonly DeviceKeys[]): Promise<number[][]> {
    const { rows } = await this.#pool.query<OthersRow>(OTHERS, [
      keys.flatMap(({ deviceKey, timestamps }) => timestamps.map(() => deviceKey)),
      keys.flatMap(({ fieldKeys }) => fieldKeys),
      keys.flatMap(({ timestamps }) => timestamps),
    ]);
    return othersOf(keys, rows);
  }

  async get(productKey: number, id: string): Promise<CallRow | null> {
    const select = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call WHERE product_key = $1 AND id = $2`;
    return (await this.#select(select, [productKey, id]))[0] ?? null;
  }

  async update(calls: CallOutcome[]): Promise<void> {
    await updateCalls(this.#pool, calls);
  }

  /** Removes calls in chunks, until a stop; returns their number. */
  async remove(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number> {
    const ofProduct = productKey === undefined ? '' : 'AND product_key = $2';
    const sql = `DELETE FROM webhook_call WHERE key = ANY(ARRAY(
                   SELECT key FROM webhook_call WHERE received_at < $1 ${ofProduct} LIMIT ${CALLS_A_CHUNK}))`;
    const values = [toBigint(receivedBefore), ...(productKey === undefined ? [] : [productKey])];
    let removed = 0;
    for (;;) {
      if (productKey === undefined) await this.#pool.query(REMOVE_SHARED, [toBigint(receivedBefore)]);
      const { rowCount } = await this.#pool.query(sql, values);
      removed += rowCount ?? 0;
      if ((rowCount ?? 0) < CALLS_A_CHUNK || isStopping()) return removed;
    }
  }

  async #select(sql: string, values: unknown[]): Promise<CallRow[]> {
    const { rows } = await this.#pool.query<PostgresCallRecord>(sql, values);
    return rows.map((row) => toCallRow(row, row.body.toString('utf8'), row.body_truncated));
  }
}

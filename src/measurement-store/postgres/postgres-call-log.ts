import type pg from 'pg';
import type { CallCount, CallQuery, CallRow } from '../../domain/measurements/store.ts';
import {
  CALL_COLUMNS,
  callCount,
  type CallOutcome,
  type CallRecord,
  callSelect,
  toCallCount,
  toCallRow,
} from '../call-columns.ts';
import { toBigint } from './to-bigint.ts';

const CALLS_A_CHUNK = 500;
const UPDATE = `UPDATE webhook_call AS call SET status = new.status, decoder_version = new.decoder_version, run = new.run
  FROM unnest($1::int4[], $2::text[], $3::text[], $4::int4[], $5::text[])
       AS new (product_key, id, status, decoder_version, run)
  WHERE call.product_key = new.product_key AND call.id = new.id`;

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

  async get(productKey: number, id: string): Promise<CallRow | null> {
    const select = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call WHERE product_key = $1 AND id = $2`;
    return (await this.#select(select, [productKey, id]))[0] ?? null;
  }

  async update(calls: CallOutcome[]): Promise<void> {
    await this.#pool.query(UPDATE, [
      calls.map(({ productKey }) => productKey),
      calls.map(({ id }) => id),
      calls.map(({ status }) => status),
      calls.map(({ decoderVersion }) => decoderVersion),
      calls.map(({ run }) => run),
    ]);
  }

  /** In chunks, until a stop; returns how many went. */
  async remove(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number> {
    const ofProduct = productKey === undefined ? '' : 'AND product_key = $2';
    const sql = `DELETE FROM webhook_call WHERE key = ANY(ARRAY(
                   SELECT key FROM webhook_call WHERE received_at < $1 ${ofProduct} LIMIT ${CALLS_A_CHUNK}))`;
    const values = [toBigint(receivedBefore), ...(productKey === undefined ? [] : [productKey])];
    let removed = 0;
    for (;;) {
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

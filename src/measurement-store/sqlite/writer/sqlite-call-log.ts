import type Sqlite from 'better-sqlite3';
import type { CallOutcome, CallRow, SharedValue } from '../../../domain/ports/store.ts';
import { CALL_COLUMNS } from '../../call-columns.ts';

/** Of each call hardly one on average. */
const SHARED_AT_ONCE = 5_000;

/** A call as a statement binds it and a row gives it back: the values of CALL_COLUMNS. */
export type CallValues = (string | number | null)[];

/** The call as the values of CALL_COLUMNS, in their order. */
export function toCallValues(call: CallRow): CallValues {
  return [
    call.id,
    call.productKey,
    call.receivedAt,
    call.method,
    call.path,
    call.query,
    call.headers,
    call.body,
    call.bodyTruncated ? 1 : 0,
    call.status,
    call.httpStatus,
    call.decoderVersion,
    call.run,
    call.stored,
  ];
}

/** Writes of the call log, for the writer thread. A call that is there already (a repeated flush) is left alone. */
export class SqliteCallLog {
  readonly #insert: Sqlite.Statement<[CallValues]>;
  readonly #update: Sqlite.Statement;
  readonly #removeAll: Sqlite.Statement;
  readonly #removeOfProduct: Sqlite.Statement;
  readonly #share: Sqlite.Statement;
  readonly #shareNoMore: Sqlite.Statement;
  readonly #removeShared: Sqlite.Statement;

  constructor(db: Sqlite.Database) {
    const columns = CALL_COLUMNS.join(', ');
    this.#insert = db.prepare<[CallValues]>(
      `INSERT INTO webhook_call (${columns}) VALUES (${CALL_COLUMNS.map(() => '?').join(',')}) ON CONFLICT DO NOTHING`,
    );
    this.#update = db.prepare(
      'UPDATE webhook_call SET status = ?, decoder_version = ?, run = ?, stored = ? WHERE product_key = ? AND id = ?',
    );
    const remove = (where: string): Sqlite.Statement =>
      db.prepare(`DELETE FROM webhook_call WHERE key IN (SELECT key FROM webhook_call WHERE ${where} LIMIT ?)`);
    this.#removeAll = remove('received_at < ?');
    this.#removeOfProduct = remove('product_key = ? AND received_at < ?');
    this.#share = db.prepare(
      `INSERT INTO shared_value (device_key, field_key, ts, others, received_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
       SET others = excluded.others, received_at = max(received_at, excluded.received_at)`,
    );
    this.#shareNoMore = db.prepare('DELETE FROM shared_value WHERE device_key = ? AND field_key = ? AND ts = ?');
    this.#removeShared = db.prepare(
      `DELETE FROM shared_value WHERE (device_key, ts, field_key) IN
       (SELECT device_key, ts, field_key FROM shared_value WHERE received_at < ? LIMIT ${SHARED_AT_ONCE})`,
    );
  }

  insert(calls: CallValues[]): void {
    for (const call of calls) this.#insert.run(call);
  }

  update(calls: CallOutcome[]): void {
    for (const { status, decoderVersion, run, stored, productKey, id } of calls)
      this.#update.run(status, decoderVersion, run, stored, productKey, id);
  }

  share({ deviceKey, fieldKey, timestamp, others, receivedAt }: SharedValue): void {
    if (others === 0) this.#shareNoMore.run(deviceKey, fieldKey, timestamp);
    else this.#share.run(deviceKey, fieldKey, timestamp, others, receivedAt);
  }

  /** Removes at most `limit` calls, and with those of all products some of the values that such old ones share; returns how many calls. */
  remove(receivedBefore: number, productKey: number | undefined, limit: number): number {
    if (productKey === undefined) this.#removeShared.run(receivedBefore);
    return productKey === undefined
      ? this.#removeAll.run(receivedBefore, limit).changes
      : this.#removeOfProduct.run(productKey, receivedBefore, limit).changes;
  }
}

import type Sqlite from 'better-sqlite3';
import type { CallRow } from '../../../domain/measurements/store.ts';
import { CALL_COLUMNS, type CallOutcome } from '../../call-columns.ts';

/** What a statement binds and a row gives back: a call as the values of CALL_COLUMNS. */
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
  ];
}

/** Writes of the call log, for the writer thread. A call that is there already (a repeated flush) is left alone. */
export class SqliteCallLog {
  readonly #insert: Sqlite.Statement<[CallValues]>;
  readonly #update: Sqlite.Statement;
  readonly #removeAll: Sqlite.Statement;
  readonly #removeOfProduct: Sqlite.Statement;

  constructor(db: Sqlite.Database) {
    const columns = CALL_COLUMNS.join(', ');
    this.#insert = db.prepare<[CallValues]>(
      `INSERT INTO webhook_call (${columns}) VALUES (${CALL_COLUMNS.map(() => '?').join(',')}) ON CONFLICT DO NOTHING`,
    );
    this.#update = db.prepare(
      'UPDATE webhook_call SET status = ?, decoder_version = ?, run = ? WHERE product_key = ? AND id = ?',
    );
    const remove = (where: string): Sqlite.Statement =>
      db.prepare(`DELETE FROM webhook_call WHERE key IN (SELECT key FROM webhook_call WHERE ${where} LIMIT ?)`);
    this.#removeAll = remove('received_at < ?');
    this.#removeOfProduct = remove('product_key = ? AND received_at < ?');
  }

  insert(calls: CallValues[]): void {
    for (const call of calls) this.#insert.run(call);
  }

  update(calls: CallOutcome[]): void {
    for (const { status, decoderVersion, run, productKey, id } of calls)
      this.#update.run(status, decoderVersion, run, productKey, id);
  }

  /** Removes at most `limit` calls; returns how many. */
  remove(receivedBefore: number, productKey: number | undefined, limit: number): number {
    return productKey === undefined
      ? this.#removeAll.run(receivedBefore, limit).changes
      : this.#removeOfProduct.run(productKey, receivedBefore, limit).changes;
  }
}

import { type CallRow, type Receipt, textLengthOf } from '../domain/ports/store.ts';
import { must } from '../must.ts';

const MAX_KEY = 2 ** 31 - 1;

/**
 * Receipts share a commit, so one that the database refuses would take others down with it. Throws a TypeError for
 * what neither database can hold (a bug of the caller): keys that are no 32-bit integers, times that are no safe
 * integers, numbers that are not finite, text with NUL, columns of different lengths. Returns how many rows there are.
 */
export function checkReceipt(receipt: Pick<Receipt, 'batches'>): number {
  let rows = 0;
  for (const batch of receipt.batches) {
    const { fieldKeys, timestamps, values } = batch;
    const count = fieldKeys.length;
    if (timestamps.length !== count || values.length !== count) throw new TypeError('columns of different lengths');
    if (!isKey(batch.deviceKey)) throw new TypeError(`device key ${batch.deviceKey}`);
    if (!Number.isSafeInteger(batch.receivedAt)) throw new TypeError(`receipt time ${batch.receivedAt}`);
    for (let i = 0; i < count; i++) {
      const value = values[i];
      if (!isKey(must(fieldKeys[i]))) throw new TypeError(`field key ${fieldKeys[i]}`);
      if (!Number.isSafeInteger(timestamps[i])) throw new TypeError(`timestamp ${timestamps[i]}`);
      if (typeof value === 'string' ? value.includes('\0') : !Number.isFinite(value))
        throw new TypeError('a value that cannot be stored');
    }
    rows += count;
  }
  return rows;
}

function isKey(key: number): boolean {
  return Number.isInteger(key) && key >= 0 && key <= MAX_KEY;
}

/** Estimates the bytes of memory that a waiting call takes. */
export function callBytes(call: CallRow): number {
  return textLengthOf(call) + call.query.length + call.path.length + 300;
}

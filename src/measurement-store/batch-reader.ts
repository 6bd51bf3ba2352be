import type { StoredValue } from '../domain/measurements/store.ts';
import { FORMAT, TEXT } from './receipt-encoder.ts';

/** A batch inside the bytes of an inbox row. */
export interface EncodedBatch {
  bytes: Buffer;
  /** Of its first row. */
  offset: number;
  count: number;
}

/** Walks over the batches that `ReceiptEncoder` wrote, without reading their rows. Throws if the bytes are not its own. */
export function eachBatch(
  bytes: Buffer,
  visit: (deviceKey: number, receivedAt: number, batch: EncodedBatch) => void,
): void {
  if (bytes[0] !== FORMAT) throw new Error(`inbox row of unknown format ${bytes[0]}`);
  let at = 1;
  while (at < bytes.length) {
    const count = bytes.readUInt32LE(at + 12);
    const offset = at + 16;
    visit(bytes.readUInt32LE(at), bytes.readDoubleLE(at + 4), { bytes, offset, count });
    at = offset;
    for (let i = 0; i < count; i++) at += bytes[at + 12] === TEXT ? 17 + bytes.readUInt32LE(at + 13) : 21;
  }
}

/** Appends the batch's rows to the three columns. */
export function readRows(batch: EncodedBatch, fieldKeys: number[], timestamps: number[], values: StoredValue[]): void {
  const { bytes, count } = batch;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = batch.offset;
  for (let i = 0; i < count; i++) {
    fieldKeys.push(view.getUint32(at, true));
    timestamps.push(view.getFloat64(at + 4, true));
    if (view.getUint8(at + 12) === TEXT) {
      const end = at + 17 + view.getUint32(at + 13, true);
      values.push(bytes.toString('utf8', at + 17, end));
      at = end;
    } else {
      values.push(view.getFloat64(at + 13, true));
      at += 21;
    }
  }
}

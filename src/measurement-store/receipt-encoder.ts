import type { Batch } from '../domain/measurements/store.ts';

/**
 * The bytes of an inbox row, little-endian: FORMAT (u8), then for each batch device key (u32), receipt time (f64),
 * count (u32) and count rows of field key (u32), timestamp (f64), tag (u8), and a number (f64) or the length (u32) and
 * UTF-8 of a text. `batch-reader.ts` reads them.
 */
export const FORMAT = 1;
export const NUMBER = 0;
export const TEXT = 1;

const BATCH_BYTES = 16;
const ROW_BYTES = 21;

/** Writes batches one after another into one buffer that grows and is used again after `take`. */
export class ReceiptEncoder {
  #buffer: Buffer<ArrayBuffer>;
  #view: DataView;
  #length = 1;

  constructor(initialBytes = 65_536) {
    this.#buffer = Buffer.from(new ArrayBuffer(initialBytes));
    this.#view = new DataView(this.#buffer.buffer);
    this.#buffer[0] = FORMAT;
  }

  get length(): number {
    return this.#length;
  }

  add(batch: Batch): void {
    const { fieldKeys, timestamps, values } = batch;
    const count = fieldKeys.length;
    this.#reserve(BATCH_BYTES + count * ROW_BYTES);
    let at = this.#length;
    this.#view.setUint32(at, batch.deviceKey, true);
    this.#view.setFloat64(at + 4, batch.receivedAt, true);
    this.#view.setUint32(at + 12, count, true);
    at += BATCH_BYTES;
    for (let i = 0; i < count; i++) {
      const value = values[i]!;
      this.#view.setUint32(at, fieldKeys[i]!, true);
      this.#view.setFloat64(at + 4, timestamps[i]!, true);
      if (typeof value === 'number') {
        this.#view.setUint8(at + 12, NUMBER);
        this.#view.setFloat64(at + 13, value, true);
        at += ROW_BYTES;
      } else {
        this.#view.setUint8(at + 12, TEXT);
        this.#length = at + 17;
        // UTF-8 takes at most three bytes for each unit of a JavaScript string; then the rows that are left.
        this.#reserve(value.length * 3 + (count - i) * ROW_BYTES);
        const bytes = this.#buffer.write(value, at + 17, 'utf8');
        this.#view.setUint32(at + 13, bytes, true);
        at += 17 + bytes;
      }
    }
    this.#length = at;
  }

  /** The bytes written so far, to be handed over whole; `spare`, a buffer that came back, is written to next. */
  take(spare: ArrayBuffer | undefined): { buffer: ArrayBuffer; length: number } {
    const taken = { buffer: this.#buffer.buffer, length: this.#length };
    this.#buffer = Buffer.from(spare ?? new ArrayBuffer(65_536));
    this.#view = new DataView(this.#buffer.buffer);
    this.#buffer[0] = FORMAT;
    this.#length = 1;
    return taken;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.#buffer.length * 2)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer);
  }
}

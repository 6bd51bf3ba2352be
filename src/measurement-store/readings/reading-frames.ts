import type { Batch } from '../../domain/ports/store.ts';
import { maxValuesBytes, writeValues } from './reading-values.ts';
import { eachMoment } from './time-order.ts';

/**
 * The readings of many batches on their way to the thread that writes, little-endian: for each batch device key (u32),
 * receipt time (f64) and the number of readings (u32), then for each of these its time (f64), the length of its values
 * (u32) and the values (`reading-values.ts`).
 */
const BATCH_BYTES = 16;
const READING_BYTES = 12;
const INITIAL_BYTES = 65_536;

/** Writes batches one after another into one buffer that grows and is used again after `take`. */
export class ReadingFrames {
  #buffer = Buffer.from(new ArrayBuffer(INITIAL_BYTES));
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(batch: Batch): void {
    const most = BATCH_BYTES + batch.timestamps.length * READING_BYTES + maxValuesBytes(batch.values);
    this.#reserve(most);
    const buffer = this.#buffer;
    const start = this.#length;
    let end = start + BATCH_BYTES;
    let readings = 0;
    eachMoment(batch, (timestamp, order, from, to) => {
      const values = end + READING_BYTES;
      const after = writeValues(buffer, values, batch, order, from, to);
      buffer.writeDoubleLE(timestamp, end);
      buffer.writeUInt32LE(after - values, end + 8);
      end = after;
      readings++;
    });
    buffer.writeUInt32LE(batch.deviceKey, start);
    buffer.writeDoubleLE(batch.receivedAt, start + 4);
    buffer.writeUInt32LE(readings, start + 12);
    this.#length = end;
  }

  /** The bytes written so far, to be handed over whole; `spare`, a buffer that came back, is written to next. */
  take(spare: ArrayBuffer | undefined): { buffer: ArrayBuffer; length: number } {
    const taken = { buffer: this.#buffer.buffer, length: this.#length };
    this.#buffer = Buffer.from(spare ?? new ArrayBuffer(INITIAL_BYTES));
    this.#length = 0;
    return taken;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, this.#buffer.length * 2)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Walks over the bytes of `ReadingFrames`, in order; the values of a reading are the bytes from `start` to `end`. */
export function eachFrame(
  bytes: Buffer,
  batch: (deviceKey: number, receivedAt: number) => void,
  reading: (deviceKey: number, timestamp: number, start: number, end: number) => void,
): void {
  for (let at = 0; at < bytes.length;) {
    const deviceKey = bytes.readUInt32LE(at);
    batch(deviceKey, bytes.readDoubleLE(at + 4));
    let left = bytes.readUInt32LE(at + 12);
    at += BATCH_BYTES;
    for (; left > 0; left--) {
      const start = at + READING_BYTES;
      const end = start + bytes.readUInt32LE(at + 8);
      reading(deviceKey, bytes.readDoubleLE(at), start, end);
      at = end;
    }
  }
}

import { heardAtOf, storedAgainAt, storedAtOf } from '../../../domain/ports/store.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import { mergeValues } from '../../readings/reading-values.ts';
import type { ReadingInserts } from './reading-inserts.ts';

/** A group and as much again; what a burst needs beyond that is given back. */
const KEPT_READINGS = 8_192;
const KEPT_BYTES = 2_000_000;

/**
 * Readings of whole flushes that are committed and not in their place yet, as columns: an object for each of them, and
 * a buffer for each flush, would live just long enough to become garbage that only a full collection finds.
 */
export class WaitingReadings {
  #bytes = Buffer.alloc(0);
  #usedBytes = 0;
  #length = 0;
  #columns = columns(0);
  #order = new Uint32Array(0);
  #lastSeq = 0;

  /** How many there are. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of their flushes. */
  get bytes(): number {
    return this.#usedBytes;
  }

  /** The number of the last flush in here; 0 if there is none. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** All readings of a flush; tells of each batch when its device was heard. */
  add(seq: number, storedAt: number, frames: Buffer, heard: (deviceKey: number, at: number) => void): void {
    const offset = this.#usedBytes;
    this.#makeRoomFor(offset + frames.length);
    frames.copy(this.#bytes, offset);
    this.#usedBytes += frames.length;
    this.#lastSeq = seq;
    let batchStoredAt = storedAt;
    eachFrame(
      frames,
      (deviceKey, at) => {
        batchStoredAt = storedAtOf(at, storedAt);
        heard(deviceKey, heardAtOf(at));
      },
      (deviceKey, timestamp, start, end) => {
        if (this.#length === this.#columns.seq.length) this.#columns = columns(2 * this.#length, this.#columns);
        const i = this.#length++;
        const to = this.#columns;
        to.deviceKey[i] = deviceKey;
        to.timestamp[i] = timestamp;
        to.storedAt[i] = batchStoredAt;
        to.seq[i] = seq;
        to.start[i] = offset + start;
        to.end[i] = offset + end;
      },
    );
  }

  /** Puts them into the order of their places; the same moment of several flushes stays in the order of the flushes. */
  sort(): void {
    const { deviceKey, timestamp } = this.#columns;
    const order = new Uint32Array(this.#length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    this.#order = order.sort((a, b) => deviceKey[a]! - deviceKey[b]! || timestamp[a]! - timestamp[b]! || a - b);
  }

  /** Writes the sorted readings from `from` to `to`; those of the same moment as one. */
  write(from: number, to: number, inserts: ReadingInserts): void {
    const { deviceKey, timestamp, storedAt, seq } = this.#columns;
    for (let at = from; at < to;) {
      const begin = at;
      const first = this.#order[begin]!;
      let [last, newest] = [first, storedAt[first]!];
      for (at += 1; at < to; at += 1) {
        const next = this.#order[at]!;
        if (deviceKey[next] !== deviceKey[first] || timestamp[next] !== timestamp[first]) break;
        last = next;
        newest = storedAgainAt(newest, storedAt[next]!);
      }
      const values = last === first ? this.#valuesOf(first) : this.#merged(begin, at);
      inserts.add(deviceKey[first]!, timestamp[first]!, newest, seq[last]!, values);
    }
  }

  /** Begins anew. */
  clear(): void {
    this.#length = 0;
    this.#usedBytes = 0;
    this.#lastSeq = 0;
    this.#order = new Uint32Array(0);
    if (this.#columns.seq.length > KEPT_READINGS) this.#columns = columns(0);
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }

  #merged(begin: number, end: number): Buffer {
    return mergeValues(...Array.from(this.#order.subarray(begin, end), (i) => this.#valuesOf(i)));
  }

  #valuesOf(i: number): Buffer {
    return this.#bytes.subarray(this.#columns.start[i], this.#columns.end[i]);
  }

  #makeRoomFor(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#usedBytes);
    this.#bytes = larger;
  }
}

interface Columns {
  deviceKey: Uint32Array;
  timestamp: Float64Array;
  storedAt: Float64Array;
  seq: Float64Array;
  start: Uint32Array;
  end: Uint32Array;
}

const LEAST = 512;

/** Columns with room for that many, and what is in `from`. */
function columns(room: number, from?: Columns): Columns {
  const length = Math.max(room, LEAST);
  const all: Columns = {
    deviceKey: new Uint32Array(length),
    timestamp: new Float64Array(length),
    storedAt: new Float64Array(length),
    seq: new Float64Array(length),
    start: new Uint32Array(length),
    end: new Uint32Array(length),
  };
  if (from) for (const name of Object.keys(all) as (keyof Columns)[]) all[name].set(from[name]);
  return all;
}

import type { ByteReader } from './byte-reader.ts';
import { type ByteWriter, zigzag } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';

/**
 * Whole numbers as the zigzag varint of each one's step from the one before (the first from `start`). `runs`: a step of 0
 * is followed by how many more of it come, so that repeats cost nothing. |numbers| up to 2^51.
 */
export function writeIntegers(out: ByteWriter, integers: Float64Array, runs: boolean, start = 0): void {
  let previous = start;
  for (let i = 0; i < integers.length; i++) {
    const step = integers[i]! - previous;
    previous = integers[i]!;
    out.zigzag(step);
    if (step !== 0 || !runs) continue;
    const begin = i;
    while (i + 1 < integers.length && integers[i + 1] === previous) i++;
    out.varint(i - begin);
  }
}

/** Length in bytes of `writeIntegers`: counted, not written. */
export function integersLength(integers: Float64Array, runs: boolean): number {
  let length = 0;
  let previous = 0;
  for (let i = 0; i < integers.length; i++) {
    const step = integers[i]! - previous;
    previous = integers[i]!;
    length += varintLength(zigzag(step));
    if (step !== 0 || !runs) continue;
    const begin = i;
    while (i + 1 < integers.length && integers[i + 1] === previous) i++;
    length += varintLength(i - begin);
  }
  return length;
}

/** Fills `into` with the numbers, each divided by `divisor`. */
export function readIntegers(from: ByteReader, into: Float64Array, runs: boolean, divisor: number, start = 0): void {
  const { bytes } = from;
  const count = into.length;
  let { at } = from;
  let current = start;
  // Written out by hand, for speed. Reading past the end gives undefined, which counts as 0 in all of this, and is
  // found out below.
  for (let i = 0; i < count; i++) {
    let code = bytes[at++]!;
    if (code >= 0x80) {
      let byte = bytes[at++]!;
      code = (code & 0x7f) | ((byte & 0x7f) << 7);
      if (byte >= 0x80) {
        byte = bytes[at++]!;
        code |= (byte & 0x7f) << 14;
        for (let scale = 2 ** 21; byte >= 0x80; scale *= 0x80) {
          if (scale >= 2 ** 56) throw new CorruptChunk('a number in it is too long');
          byte = bytes[at++]!;
          code += (byte & 0x7f) * scale;
        }
      }
    }
    if (code === 0 && runs) {
      from.at = at;
      const more = from.varint();
      at = from.at;
      if (more >= count - i) throw new CorruptChunk('a run in it is too long');
      into.fill(current / divisor, i, i + more + 1);
      i += more;
      continue;
    }
    current += code < 2 ** 31 ? (code >>> 1) ^ -(code & 1) : code % 2 === 0 ? code / 2 : -(code + 1) / 2;
    into[i] = current / divisor;
  }
  if (at > bytes.length) throw new CorruptChunk('it ends too early');
  from.at = at;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

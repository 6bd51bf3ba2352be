import { CorruptChunk } from './corrupt-chunk.ts';

/** Reads the bytes of `ByteWriter`; throws CorruptChunk rather than read past the end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new CorruptChunk('it ends too early');
    return value;
  }

  varint(): number {
    let value = 0;
    // 8 bytes hold 56 bits.
    for (let scale = 1; scale < 2 ** 56; scale *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER + 1) break;
        return value;
      }
    }
    throw new CorruptChunk('a number in it is too long');
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  /** A view, not a copy. */
  take(count: number): Uint8Array {
    if (this.at + count > this.bytes.length) throw new CorruptChunk('it ends too early');
    return this.bytes.subarray(this.at, (this.at += count));
  }

  /** Throws CorruptChunk when bytes are left. */
  end(): void {
    if (this.at !== this.bytes.length) throw new CorruptChunk('it has bytes left over');
  }
}

import { inflateRawSync } from 'node:zlib';
import { CorruptChunk } from './corrupt-chunk.ts';

/** The `length` bytes that were deflated; never more memory than that. */
export function inflated(bytes: Uint8Array, length: number): Uint8Array {
  try {
    const plain = inflateRawSync(bytes, { maxOutputLength: length + 1 });
    if (plain.length === length) return new Uint8Array(plain.buffer, plain.byteOffset, length);
  } catch {
    // Said below.
  }
  throw new CorruptChunk('what is compressed in it does not inflate');
}

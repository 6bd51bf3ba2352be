import { CorruptChunk } from './corrupt-chunk.ts';

/**
 * Float64 values bit for bit, or in half the bytes when all of them are float32: each byte XOR the same byte of the
 * value before, all first bytes, then all second ones, and so on, so that deflate finds what does not change.
 */
export function exactBytes(values: Float64Array): { bytes: Uint8Array<ArrayBuffer>; width: 4 | 8 } {
  const single = Float32Array.from(values);
  const width = values.every((value, i) => Object.is(single[i], value)) ? 4 : 8;
  const source = new Uint8Array(width === 4 ? single.buffer : Float64Array.from(values).buffer);
  const bytes = new Uint8Array(source.length);
  for (let plane = 0, at = 0; plane < width; plane++) {
    let previous = 0;
    for (let i = plane; i < source.length; i += width) {
      bytes[at++] = source[i]! ^ previous;
      previous = source[i]!;
    }
  }
  return { bytes, width };
}

/** The `into.length` values of which `exactBytes` made the bytes. */
export function readExact(bytes: Uint8Array, width: 4 | 8, into: Float64Array): void {
  const count = into.length;
  if (bytes.length !== count * width) throw new CorruptChunk('its values have the wrong length');
  const target = new Uint8Array(bytes.length);
  for (let plane = 0, at = 0; plane < width; plane++) {
    let current = 0;
    for (let i = plane; i < target.length; i += width) target[i] = current ^= bytes[at++]!;
  }
  into.set(width === 4 ? new Float32Array(target.buffer) : new Float64Array(target.buffer));
}

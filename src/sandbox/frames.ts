/**
 * What travels between the pool and a decoder process: frames of a 32-bit length (of all that follows), a type byte, and
 * a body of 32-bit numbers and UTF-8 text. Both directions share one socket.
 */
export const FRAME = {
  /** To the process: sourceNo, text. */
  SOURCE: 1,
  /** To the process: sourceNo. */
  DROP_SOURCE: 2,
  /** To the process: productNo; JSON text of serial number → device id, empty to forget it. */
  SERIALS: 3,
  /** To the process: jobId, productNo, sourceNo, timeout in ms, flags, bytes of the input; input, last values. */
  RUN: 4,
  /** To the process: jobId, text. */
  CHECK: 5,
  /** From the process. */
  READY: 6,
  /** From the process: jobId, execution time in µs; result text (see `realm/run-decoder.ts`). */
  RESULT: 7,
} as const;

/** `ALONE`: results are written before and after this run, so that the pool knows exactly when it is the one running. */
export const RUN_FLAG = { LAST_ROUND: 1, ALONE: 2, ENTRY_SHIFT: 4 } as const;
export const ENTRY_POINTS = ['webhook', 'lorawan', 'particle'] as const;

/** One frame as bytes. */
export function encodeFrame(type: number, numbers: readonly number[], text: string, second = ''): Buffer {
  const firstBytes = Buffer.byteLength(text);
  const secondBytes = second === '' ? 0 : Buffer.byteLength(second);
  const size = 5 + numbers.length * 4 + firstBytes + secondBytes;
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt32LE(size - 4, 0);
  frame[4] = type;
  let at = 5;
  for (const number of numbers) at = frame.writeUInt32LE(number, at);
  if (firstBytes > 0) frame.write(text, at);
  if (secondBytes > 0) frame.write(second, at + firstBytes);
  return frame;
}

/** Cuts a stream of bytes into frames; `take` gets each frame without its length. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer, take: (frame: Buffer) => void): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= 4) {
      const size = bytes.readUInt32LE(at);
      if (bytes.length - at - 4 < size) break;
      take(bytes.subarray(at + 4, at + 4 + size));
      at += 4 + size;
    }
    bytes = bytes.subarray(at);
    // A copy, since the sender may reuse the memory of the chunk.
    this.#rest = bytes.length === 0 ? bytes : Buffer.from(bytes);
  }
}

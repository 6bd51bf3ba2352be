/**
 * Frames between the pool and a decoder process: a 32-bit length (of all that follows), a type byte, and a body of
 * 32-bit numbers and UTF-8 text. Both directions share one socket.
 */
export const FRAME = {
  /** Sent to the process: sourceNo, text. */
  SOURCE: 1,
  /** Sent to the process: sourceNo. */
  DROP_SOURCE: 2,
  /** Sent to the process: productNo; JSON text of serial number → device id, empty to forget it. */
  SERIALS: 3,
  /**
   * Sent to the process: jobId, productNo, workspaceNo, sourceNo, timeout in ms, flags, bytes of the input; input, last
   * values.
   */
  RUN: 4,
  /** Sent to the process: jobId, text. */
  CHECK: 5,
  /** Sent by the process when it has started. */
  READY: 6,
  /**
   * Sent by the process: jobId; in µs the run's processor time, its wall time and processor time with compiling, and
   * its wall time with all before it; text (`realm/run-decoder.ts`).
   */
  RESULT: 7,
} as const;

/** Result text of a run that has not begun, because another run of its source was long. */
export const NOT_BEGUN = 'B';
/** Maximum run time of a quick source, in ms. */
export const QUICK_MS = 5;

/** `ALONE`: results are written before and after this run, so that the pool knows when it runs. */
export const RUN_FLAG = { LAST_ROUND: 1, ALONE: 2, ENTRY_SHIFT: 4 } as const;
/** Entry points by their number in a frame's flags. */
export const ENTRY_POINTS = ['webhook', 'lorawan', 'particle', 'event'] as const;

/** Encodes a frame. */
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

/** Encodes the head of a frame whose text of `textBytes` follows in pieces. */
export function frameHead(type: number, numbers: readonly number[], textBytes: number): Buffer {
  const head = encodeFrame(type, numbers, '');
  head.writeUInt32LE(head.length - 4 + textBytes, 0);
  return head;
}

/** Cuts a stream of bytes into frames; `take` gets each frame without its length. A frame over `maxBytes` is a RangeError. */
export class FrameReader {
  #maxBytes: number;
  /** Pieces of the frame that is not whole yet, copied, since the sender may reuse the memory of a chunk. */
  #pieces: Buffer[] = [];
  #held = 0;
  /** Bytes needed before the next frame is complete. */
  #needed = 4;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer, take: (frame: Buffer) => void): void {
    if (this.#held + chunk.length < this.#needed) {
      this.#keep(chunk);
      return;
    }
    const bytes = this.#held === 0 ? chunk : Buffer.concat([...this.#pieces, chunk]);
    this.#pieces = [];
    this.#held = 0;
    this.#needed = 4;
    let at = 0;
    while (bytes.length - at >= 4) {
      const size = bytes.readUInt32LE(at);
      if (size < 1 || size > this.#maxBytes) throw new RangeError(`a frame of ${size} bytes`);
      if (bytes.length - at - 4 < size) {
        this.#needed = 4 + size;
        break;
      }
      take(bytes.subarray(at + 4, at + 4 + size));
      at += 4 + size;
    }
    if (at < bytes.length) this.#keep(bytes.subarray(at));
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(Buffer.from(piece));
    this.#held += piece.length;
  }
}

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
  /** To the process: jobId, productNo, workspaceNo, sourceNo, timeout in ms, flags, bytes of the input; input, last values. */
  RUN: 4,
  /** To the process: jobId, text. */
  CHECK: 5,
  /** From the process. */
  READY: 6,
  /**
   * From the process: jobId; in µs the run's processor time, its wall time and processor time with all that compiling
   * took, and wall time with all before it; text (`realm/run-decoder.ts`).
   */
  RESULT: 7,
} as const;

/** The text of a result that is none: the run has not begun, since one of its source was longer than quick ones are. */
export const NOT_BEGUN = 'B';
/** In ms: a run longer than this is not that of a quick source. */
export const QUICK_MS = 5;

/** `ALONE`: results are written before and after this run, so that the pool knows exactly when it is the one running. */
export const RUN_FLAG = { LAST_ROUND: 1, ALONE: 2, ENTRY_SHIFT: 4 } as const;
/** The entry points by their number in a frame's flags. */
export const ENTRY_POINTS = ['webhook', 'lorawan', 'particle', 'event'] as const;

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

/** The beginning of a frame whose text follows in pieces of so many bytes together. */
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
  /** Bytes that the next frame needs before it is worth a look. */
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

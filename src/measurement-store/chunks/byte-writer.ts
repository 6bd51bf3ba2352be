/** Bytes that grow as they are written; whole numbers as LEB128 varints. */
export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** `room`: estimated length in bytes, to grow less. */
  constructor(room = 1_024) {
    this.#bytes = new Uint8Array(room);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A whole number from -2^52 to 2^52, small ones of either sign in few bytes. */
  zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A view on the bytes written until now; ends with the next write. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** The written bytes, in memory of their own. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length + count));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The whole number that `ByteWriter.zigzag` made of another one. */
export function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

/** Types that a PostgreSQL array can have here, with their OIDs. */
export const INT4 = 23;
/** The OID of bigint. */
export const INT8 = 20;
/** The OID of text. */
export const TEXT = 25;
/** The OID of bytea. */
export const BYTEA = 17;
/** The OID of boolean. */
export const BOOL = 16;

const HEADER_BYTES = 20;

/**
 * One array parameter in PostgreSQL's binary format. `pg` would write arrays as text, value by value, which costs the
 * main thread and the server several times as much; a Buffer it sends as it is.
 */
export class BinaryArray {
  readonly #type: number;
  #buffer = Buffer.allocUnsafeSlow(4_096);
  #view = new DataView(this.#buffer.buffer);
  #length = HEADER_BYTES;
  #count = 0;
  #nulls = false;

  constructor(type: number) {
    this.#type = type;
  }

  addInt4(value: number): void {
    const at = this.#next(8);
    this.#view.setInt32(at, 4);
    this.#view.setInt32(at + 4, value);
  }

  /** A safe integer. */
  addInt8(value: number): void {
    const at = this.#next(12);
    const high = Math.floor(value / 2 ** 32);
    this.#view.setInt32(at, 8);
    this.#view.setInt32(at + 4, high);
    this.#view.setUint32(at + 8, value - high * 2 ** 32);
  }

  addFloat8(value: number): void {
    const at = this.#next(12);
    this.#view.setInt32(at, 8);
    this.#view.setFloat64(at + 4, value);
  }

  addBool(value: boolean): void {
    const at = this.#next(5);
    this.#view.setInt32(at, 1);
    this.#view.setUint8(at + 4, value ? 1 : 0);
  }

  /** UTF-8, for TEXT and BYTEA; what is no Unicode (a lone surrogate) becomes U+FFFD. */
  addText(value: string): void {
    const at = this.#next(4 + value.length * 3);
    const bytes = this.#buffer.write(value, at + 4, 'utf8');
    this.#view.setInt32(at, bytes);
    this.#length = at + 4 + bytes;
  }

  addBytes(value: Uint8Array): void {
    const at = this.#next(4 + value.length);
    this.#view.setInt32(at, value.length);
    this.#buffer.set(value, at + 4);
  }

  /** For BYTEA: bytes that are written in place; `write` gets where to begin and returns where it ended. Returns how many. */
  addWritten(most: number, write: (target: Buffer, at: number) => number): number {
    const at = this.#next(4 + most);
    const end = write(this.#buffer, at + 4);
    const bytes = end - at - 4;
    this.#view.setInt32(at, bytes);
    this.#length = end;
    return bytes;
  }

  addNull(): void {
    const at = this.#next(4);
    this.#view.setInt32(at, -1);
    this.#nulls = true;
  }

  /** The parameter. It is valid until the array is cleared. */
  toBuffer(): Buffer {
    if (this.#count === 0) this.#length = 12;
    this.#view.setInt32(0, this.#count === 0 ? 0 : 1);
    this.#view.setInt32(4, this.#nulls ? 1 : 0);
    this.#view.setInt32(8, this.#type);
    this.#view.setInt32(12, this.#count);
    this.#view.setInt32(16, 1);
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = HEADER_BYTES;
    this.#count = 0;
    this.#nulls = false;
  }

  #next(bytes: number): number {
    const at = this.#length;
    if (at + bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(at + bytes, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#length = at + bytes;
    this.#count++;
    return at;
  }
}

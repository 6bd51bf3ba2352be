/** Types of control packets (MQTT 2.1.2) that a door reads or writes. */
export const TYPES = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  unsubscribe: 10,
  pingreq: 12,
  disconnect: 14,
} as const;

/** Reason codes of MQTT 5 with which a connection ends, or an acknowledgement refuses. */
export const REASONS = {
  unspecified: 0x80,
  malformed: 0x81,
  protocolError: 0x82,
  notAuthorised: 0x87,
  busy: 0x89,
  shuttingDown: 0x8b,
  keepAliveTimeout: 0x8d,
  sessionTaken: 0x8e,
  topicInvalid: 0x90,
  aliasInvalid: 0x94,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  nothingStorable: 0x99,
} as const;

/** A packet that has come whole: `bytes` from its first byte, its content from `at`. */
export interface Frame {
  type: number;
  flags: number;
  bytes: Buffer;
  at: number;
  /** Whether it is too large, and only its beginning is here: what follows is passed over. */
  isCut: boolean;
}

/** Bytes that are no packet, or one that is not allowed there: the connection ends. */
export class BrokenPacket extends Error {
  readonly reason: number;

  constructor(reason: number, message: string) {
    super(message);
    this.reason = reason;
  }
}

const NOTHING: Buffer = Buffer.alloc(0);
/** Bytes that a piece takes beside its own: a message that comes byte by byte takes some hundred times its size. */
const BESIDE_PIECE = 400;
/** Maximum bytes of a length (MQTT 1.5.5). */
const MAX_LENGTH_BYTES = 4;
/** Bytes that are kept of a PUBLISH that is too large: its topic and packet id. */
const HEAD_BYTES = 8_192;

/** Cuts what comes over a connection into packets, which stay parts of what was read. */
export class Frames {
  /** Maximum bytes per packet. */
  maxBytes: number;
  #bytes: Buffer = NOTHING;
  #at = 0;
  readonly #later: Buffer[] = [];
  #laterBytes = 0;
  /** Bytes to pass over. */
  #skip = 0;

  /** `maxBytes`: beyond it a packet is refused; a PUBLISH that is longer than its head is cut. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Bytes that are no whole packet yet, or were not asked for. */
  get waiting(): number {
    return this.#bytes.length - this.#at + this.#laterBytes;
  }

  /** Memory that those take. */
  get held(): number {
    return this.waiting + this.#later.length * BESIDE_PIECE;
  }

  add(bytes: Buffer): void {
    if (this.#at === this.#bytes.length) {
      this.#bytes = bytes;
      this.#at = 0;
      return;
    }
    this.#later.push(bytes);
    this.#laterBytes += bytes.length;
  }

  /** The next packet; null: it has not come whole yet. Throws BrokenPacket. */
  next(): Frame | null {
    this.#passOver();
    const frame = this.#read();
    // What was read is let go of while nothing comes.
    if (this.#at === this.#bytes.length && this.#laterBytes === 0) this.#bytes = NOTHING;
    if (this.#bytes === NOTHING) this.#at = 0;
    return frame;
  }

  clear(): void {
    this.#bytes = NOTHING;
    this.#at = 0;
    this.#later.length = 0;
    this.#laterBytes = 0;
  }

  #read(): Frame | null {
    let [length, at] = this.#length();
    if (length === null && this.#laterBytes > 0) {
      this.#join();
      [length, at] = this.#length();
    }
    if (length === null) return null;
    const first = this.#bytes[this.#at] ?? 0;
    const isLong = at - this.#at + length > this.maxBytes;
    const isCut = isLong && first >> 4 === TYPES.publish && length > HEAD_BYTES;
    if (isLong && !isCut)
      throw new BrokenPacket(REASONS.packetTooLarge, `A packet may have ${this.maxBytes} bytes at most.`);
    const end = at + (isCut ? HEAD_BYTES : length);
    const [contentAt, size] = [at - this.#at, end - this.#at];
    if (this.waiting < size) return null;
    if (end > this.#bytes.length) this.#join();
    const bytes = this.#bytes.subarray(this.#at, this.#at + size);
    this.#at += size;
    if (isCut) this.#skip = length - HEAD_BYTES;
    return { type: first >> 4, flags: first & 15, bytes, at: contentAt, isCut };
  }

  #passOver(): void {
    if (this.#skip === 0) return;
    if (this.#laterBytes > 0) this.#join();
    const passed = Math.min(this.#skip, this.#bytes.length - this.#at);
    this.#skip -= passed;
    this.#at += passed;
  }

  /** The length of the next packet's content (null: unknown yet), and where that begins. */
  #length(): [number | null, number] {
    let [length, factor, at] = [0, 1, this.#at + 1];
    for (; at < this.#bytes.length; at += 1) {
      const byte = this.#bytes[at] ?? 0;
      length += (byte & 127) * factor;
      if (byte < 128) return [length, at + 1];
      factor *= 128;
      if (at - this.#at === MAX_LENGTH_BYTES)
        throw new BrokenPacket(REASONS.malformed, 'The length of a packet is broken.');
    }
    return [null, at];
  }

  #join(): void {
    this.#bytes = Buffer.concat([this.#bytes.subarray(this.#at), ...this.#later]);
    this.#at = 0;
    this.#later.length = 0;
    this.#laterBytes = 0;
  }
}

/** The packet id of a packet whose flags are fixed. Throws BrokenPacket. */
export function idOf({ bytes, at, flags }: Frame, expected: number): number {
  const id = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  if (flags !== expected || id === 0 || bytes.length < at + 2)
    throw new BrokenPacket(REASONS.malformed, 'A packet has wrong flags, or no packet id.');
  return id;
}

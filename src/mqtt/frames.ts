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
} as const;

/** A packet that has come whole: `bytes` from its first byte, its content from `at`. */
export interface Frame {
  type: number;
  flags: number;
  bytes: Buffer;
  at: number;
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
/** Maximum bytes of a length (MQTT 1.5.5). */
const MAX_LENGTH_BYTES = 4;

/** Cuts what comes over a connection into packets, which stay parts of what was read. */
export class Frames {
  /** Maximum bytes per packet. */
  maxBytes: number;
  #bytes: Buffer = NOTHING;
  #at = 0;
  readonly #later: Buffer[] = [];
  #laterBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Bytes that are no whole packet yet, or were not asked for. */
  get waiting(): number {
    return this.#bytes.length - this.#at + this.#laterBytes;
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
    if (at - this.#at + length > this.maxBytes)
      throw new BrokenPacket(REASONS.packetTooLarge, `A packet may have ${this.maxBytes} bytes at most.`);
    if (at + length > this.#bytes.length) {
      if (this.#at + this.waiting < at + length) return null;
      at -= this.#at;
      this.#join();
    }
    const first = this.#bytes[this.#at] ?? 0;
    const frame = { type: first >> 4, flags: first & 15, bytes: this.#bytes.subarray(this.#at, at + length), at: 0 };
    frame.at = at - this.#at;
    this.#at = at + length;
    return frame;
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

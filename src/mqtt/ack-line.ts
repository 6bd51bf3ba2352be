/** An acknowledgement in the line of those of its connection. */
interface Ack {
  /** null: not known yet. */
  bytes: Buffer | null;
  written: () => void;
}

/** Acknowledgements of a connection, which leave in the order of what they acknowledge (MQTT 4.6). */
export class AckLine {
  readonly #write: (bytes: Buffer) => boolean;
  readonly #line: Ack[] = [];

  /** `write`: false when the connection has ended. */
  constructor(write: (bytes: Buffer) => boolean) {
    this.#write = write;
  }

  /** Places that are not written yet. */
  get length(): number {
    return this.#line.length;
  }

  /** A place behind all others; `written` is called when what was put there has been written. */
  next(written: () => void): Ack {
    const ack = { bytes: null, written };
    this.#line.push(ack);
    return ack;
  }

  /** Writes it, and what has waited for it, when nothing before it is missing. */
  put(ack: Ack, bytes: Buffer): void {
    ack.bytes = bytes;
    for (let [first] = this.#line; first !== undefined && first.bytes !== null; [first] = this.#line) {
      this.#line.shift();
      if (this.#write(first.bytes)) first.written();
    }
  }
}

import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { must } from '../../must.ts';

/** Writes messages to a WebSocket, those of one turn of the event loop in one write, and tells when they have left. */
export class SocketWriter {
  readonly #socket: WebSocket;
  /** The stream that the WebSocket writes to. */
  readonly #wire: Duplex;
  #isHeld = false;
  /** Messages handed to the socket, and those of them that have left this process. */
  #handed = 0;
  #left = 0;
  /** Pending `sent` calls, in the order of their places. */
  readonly #waiting: { place: number; resolve: () => void }[] = [];

  constructor(socket: WebSocket, wire: Duplex) {
    this.#socket = socket;
    this.#wire = wire;
  }

  write(text: string | Buffer): void {
    if (!this.#isHeld) {
      this.#isHeld = true;
      this.#wire.cork();
      setImmediate(() => {
        this.#isHeld = false;
        this.#wire.uncork();
      });
    }
    this.#handed += 1;
    this.#socket.send(text, { binary: false }, this.#onLeft);
  }

  /** Resolves when what was written has left this process. */
  sent(): Promise<void> {
    if (this.#left === this.#handed) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ place: this.#handed, resolve }));
  }

  /** Counts a message that left. A broken connection says so by its end. */
  readonly #onLeft = (): void => {
    this.#left += 1;
    while (this.#waiting.length > 0 && must(this.#waiting[0]).place <= this.#left)
      must(this.#waiting.shift()).resolve();
  };
}

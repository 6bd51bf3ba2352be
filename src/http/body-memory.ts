import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';

/** All together: connections are many, memory is not. */
const MAX_BYTES = 128 << 20;
/** What an address holds beyond one body is at most so many times what is free: three quarters, if it is alone. */
const TIMES_FREE = 3;

interface Held {
  of: Address;
  bytes: number;
  /** Lets go of what is still coming in; null: it has come in full. */
  giveUp: ((error: AppError) => void) | null;
}

interface Address {
  readonly name: string;
  bytes: number;
  bodies: number;
  /** Those that are still coming in, oldest first. */
  readonly coming: Map<IncomingMessage, Held>;
}

/**
 * What senders may keep in memory, all together, from the first piece of a body until the answer; of a WebSocket, named
 * by its first request, the beginnings of messages. When there is too much, the address that takes most gives way, with
 * what has been coming in for longest: who means well is done in a moment.
 */
export class BodyMemory {
  readonly #addressOf: (request: IncomingMessage) => string;
  readonly #held = new Map<IncomingMessage, Held>();
  readonly #addresses = new Map<string, Address>();
  #bytes = 0;

  /** `addressOf`: whom a request comes from. */
  constructor(addressOf: (request: IncomingMessage) => string) {
    this.#addressOf = addressOf;
  }

  /** All that is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whom a request comes from. */
  addressOf(request: IncomingMessage): string {
    return this.#addressOf(request);
  }

  /** What has come of somebody's body so far; `giveUp` lets go of it. */
  hold(request: IncomingMessage, bytes: number, giveUp: (error: AppError) => void): void {
    this.#put(request, bytes, giveUp);
  }

  /** It has come in full, and takes so much. Throws OVERLOADED. */
  keep(request: IncomingMessage, bytes: number): void {
    if (this.#put(request, bytes, null)) return;
    this.release(request);
    throw tooMuch();
  }

  /** It is done with, if there was any. */
  release(request: IncomingMessage): void {
    if (this.#bytes === 0) return;
    const held = this.#held.get(request);
    if (held === undefined) return;
    this.#held.delete(request);
    held.of.coming.delete(request);
    held.of.bodies -= 1;
    this.#count(held, -held.bytes);
    if (held.of.bodies === 0) this.#addresses.delete(held.of.name);
  }

  /** False when there is no room. */
  #put(request: IncomingMessage, bytes: number, giveUp: Held['giveUp']): boolean {
    let held = this.#held.get(request);
    if (held === undefined) {
      held = { of: this.#address(request), bytes: 0, giveUp };
      held.of.bodies += 1;
      this.#held.set(request, held);
    }
    held.giveUp = giveUp;
    if (giveUp === null) held.of.coming.delete(request);
    else held.of.coming.set(request, held);
    this.#count(held, bytes - held.bytes);
    held.bytes = bytes;
    return this.#makeRoom(held.of);
  }

  #address(request: IncomingMessage): Address {
    const name = this.#addressOf(request);
    let address = this.#addresses.get(name);
    if (address === undefined) this.#addresses.set(name, (address = { name, bytes: 0, bodies: 0, coming: new Map() }));
    return address;
  }

  #count({ of }: Held, more: number): void {
    of.bytes += more;
    this.#bytes += more;
  }

  /** Until the address holds no more than its share. */
  #makeRoom(address: Address): boolean {
    while (this.#isOver(address)) {
      const next = this.#largest(address).coming.entries().next();
      if (next.done === true) return false;
      const [request, { giveUp }] = next.value;
      this.release(request);
      giveUp?.(tooMuch());
    }
    return true;
  }

  #isOver({ bytes, bodies }: Address): boolean {
    const free = MAX_BYTES - this.#bytes;
    return free < 0 || (bodies > 1 && bytes > TIMES_FREE * free);
  }

  /** Of those that can give way and hold not less than this one; else this one. */
  #largest(address: Address): Address {
    let largest = address;
    for (const other of this.#addresses.values())
      if (other.coming.size > 0 && other.bytes >= largest.bytes) largest = other;
    return largest;
  }
}

function tooMuch(): AppError {
  return new AppError('OVERLOADED', 'Too much is being sent to this server at once; send it again in a moment.');
}

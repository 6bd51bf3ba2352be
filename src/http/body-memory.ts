import { AppError } from '../errors.ts';
import type { Sender } from './client-address.ts';

/** Maximum bytes of all bodies together. */
const MAX_BYTES = 128 << 20;
/** Maximum ratio of an address's bytes beyond one body to the free ones: three quarters, if it is alone. */
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
  /** Bodies that are still coming in, oldest first. */
  readonly coming: Map<Sender, Held>;
}

/**
 * Bounds the memory of all senders together, from the first piece of a body until the answer; of a WebSocket, named by
 * its first request, the beginnings of messages. When there is too much, the address that takes most gives way, with
 * the body that has been coming in for longest: an honest one is done in a moment.
 */
export class BodyMemory {
  readonly #addressOf: (request: Sender) => string;
  readonly #held = new Map<Sender, Held>();
  readonly #addresses = new Map<string, Address>();
  #bytes = 0;

  /** `addressOf`: the address that a request comes from. */
  constructor(addressOf: (request: Sender) => string) {
    this.#addressOf = addressOf;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The address that a request comes from. */
  addressOf(request: Sender): string {
    return this.#addressOf(request);
  }

  /** Notes the bytes of a body until now; `giveUp` lets go of it. */
  hold(request: Sender, bytes: number, giveUp: (error: AppError) => void): void {
    this.#put(request, bytes, giveUp);
  }

  /** Notes a body that has come in full, and its bytes. Throws OVERLOADED. */
  keep(request: Sender, bytes: number): void {
    if (this.#put(request, bytes, null)) return;
    this.release(request);
    throw tooMuch();
  }

  /** Frees a body, if there is one. */
  release(request: Sender): void {
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
  #put(request: Sender, bytes: number, giveUp: Held['giveUp']): boolean {
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

  #address(request: Sender): Address {
    const name = this.#addressOf(request);
    let address = this.#addresses.get(name);
    if (address === undefined) this.#addresses.set(name, (address = { name, bytes: 0, bodies: 0, coming: new Map() }));
    return address;
  }

  #count({ of }: Held, more: number): void {
    of.bytes += more;
    this.#bytes += more;
  }

  /** Lets bodies go until the address holds no more than its share; false: none can. */
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

  /** The address that holds most, of those that can give way and hold not less than this one; else this one. */
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

import { MemoryPool, type PoolItem } from '../scheduling/memory-pool.ts';
import { POOLS } from '../scheduling/pools.ts';
import { AppError } from '../errors.ts';
import type { Sender } from './client-address.ts';

/**
 * Bounds the memory of all senders together, from the first piece of a body until the answer; of a WebSocket, named by
 * its first request, the beginnings of messages. When there is too much, the address that takes most gives way, with
 * the body that has been coming in for longest: an honest one is done in a moment.
 */
export class BodyMemory {
  readonly #addressOf: (request: Sender) => string;
  readonly #pool = new MemoryPool(POOLS.bodies);
  readonly #bodies = new Map<Sender, PoolItem>();

  /** `addressOf`: the address that a request comes from. */
  constructor(addressOf: (request: Sender) => string) {
    this.#addressOf = addressOf;
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#pool.bytes;
  }

  /** The address that a request comes from. */
  addressOf(request: Sender): string {
    return this.#addressOf(request);
  }

  /** Notes the bytes of a body until now; the first `giveUp` of a body lets go of it. */
  hold(request: Sender, bytes: number, giveUp: (error: AppError) => void): void {
    const body = this.#bodyOf(request);
    if (body.giveWay === null)
      this.#pool.mayGiveWay(body, () => {
        this.#bodies.delete(request);
        giveUp(new AppError('OVERLOADED', POOLS.bodies.refusal));
      });
    this.#hasRoom(body, bytes);
  }

  /** Notes a body that has come in full, and its bytes. Throws OVERLOADED. */
  keep(request: Sender, bytes: number): void {
    const body = this.#bodyOf(request);
    this.#pool.mayGiveWay(body, null);
    if (this.#hasRoom(body, bytes)) return;
    this.release(request);
    throw this.#pool.refuse();
  }

  /** Frees a body, if there is one. */
  release(request: Sender): void {
    if (this.#bodies.size === 0) return;
    const body = this.#bodies.get(request);
    if (body === undefined) return;
    this.#bodies.delete(request);
    this.#pool.close(body);
  }

  #bodyOf(request: Sender): PoolItem {
    let body = this.#bodies.get(request);
    if (body === undefined)
      this.#bodies.set(request, (body = this.#pool.open({ tenant: this.#addressOf(request), tokenId: '' })));
    return body;
  }

  /** Counts all bytes of a body; false: they are too much, and nothing can give way. */
  #hasRoom(body: PoolItem, bytes: number): boolean {
    this.#pool.grow(body, bytes - body.bytes);
    while (!this.#pool.fits(body)) if (!this.#pool.evictLargest(body)) return false;
    return true;
  }
}

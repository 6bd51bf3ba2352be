import type { Socket } from 'node:net';
import { poolCountsOf } from '../scheduling/pool-counts.ts';
import { POOLS } from '../scheduling/pools.ts';
import { addressGroup } from './address-group.ts';
import { must } from '../must.ts';

const LOOK_EVERY_MS = 1_000;
const { maxBytes: MAX_UNREAD_BYTES, name: POOL } = POOLS.unreadAnswers;
/** Bytes per further look: a large write counts as taken only when all of it is. */
const BYTES_A_LOOK = 10_000;

/** The unread bytes of a connection. */
interface Unread {
  /** Bytes that have left for the client since it was connected. */
  taken: number;
  /** Looks in which nothing more had left. */
  looks: number;
}

/**
 * Ends connections whose client takes nothing of what was written to it for too long, whatever it sends meanwhile, and
 * bounds the unread bytes of all. Looks are counted, not time: while the process stands still, no client can read.
 */
export class UnreadAnswers {
  readonly #sockets: () => Iterable<Socket>;
  readonly #maxLooks: number;
  readonly #timer: NodeJS.Timeout;
  readonly #counts = poolCountsOf(POOL);
  #unread = new Map<Socket, Unread>();
  /** Unread bytes at the last look. */
  #bytes = 0;

  /** `sockets`: all that are open. */
  constructor(sockets: () => Iterable<Socket>, idleMs: number) {
    this.#sockets = sockets;
    this.#maxLooks = Math.ceil(idleMs / LOOK_EVERY_MS);
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  end(): void {
    clearInterval(this.#timer);
    this.#count(0);
  }

  #look(): void {
    const unread = new Map<Socket, Unread>();
    let bytes = 0;
    for (const socket of this.#sockets()) {
      if (socket.writableLength === 0) continue;
      const taken = socket.bytesWritten - socket.writableLength;
      const before = this.#unread.get(socket);
      const looks = before === undefined || taken > before.taken ? 0 : before.looks + 1;
      if (looks >= this.#maxLooks + socket.writableLength / BYTES_A_LOOK) {
        socket.destroy();
        continue;
      }
      unread.set(socket, { taken, looks });
      bytes += socket.writableLength;
    }
    this.#unread = unread;
    this.#count(bytes > MAX_UNREAD_BYTES ? this.#endUntil(bytes) : bytes);
  }

  #count(bytes: number): void {
    this.#counts.bytes += bytes - this.#bytes;
    this.#bytes = bytes;
  }

  /**
   * Ends connections of the address that leaves most first, and of these those that take least, until the rest is
   * within the bound; returns its bytes.
   */
  #endUntil(bytes: number): number {
    const ofAddress = new Map<string, number>();
    const all = Array.from(this.#unread, ([socket, { looks }]) => {
      const address = addressGroup(socket.remoteAddress);
      const length = socket.writableLength;
      ofAddress.set(address, (ofAddress.get(address) ?? 0) + length);
      return { socket, address, length, looks };
    });
    const leftBy = ({ address }: { address: string }): number => must(ofAddress.get(address));
    all.sort((a, z) => leftBy(z) - leftBy(a) || z.looks - a.looks || z.length - a.length);
    for (const { socket, length } of all) {
      if (bytes <= MAX_UNREAD_BYTES) break;
      bytes -= length;
      this.#counts.evicted += 1;
      socket.destroy();
    }
    return bytes;
  }
}

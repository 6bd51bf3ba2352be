import type { Socket } from 'node:net';
import { RoundRobinQueue } from '../scheduling/round-robin-queue.ts';
import { strangerAt } from '../scheduling/caller.ts';
import { addressGroup } from './address-group.ts';

/** How long this keeps the event loop from others at a time. */
const SLICE_MS = 0.25;

/** What is done with connections, not at once but a slice in each turn of the event loop: addresses take turns. */
export class TurnsByAddress {
  readonly #line = new RoundRobinQueue<() => void>();
  #armed = false;

  /** Does the work when the connection has its turn; it is for the caller to add it no more than once. */
  add(socket: Socket, work: () => void): void {
    this.#line.add(strangerAt(addressGroup(socket.remoteAddress)), work);
    if (!this.#armed) setImmediate(this.#turn);
    this.#armed = true;
  }

  readonly #turn = (): void => {
    const until = performance.now() + SLICE_MS;
    for (let work = this.#line.take(); work !== undefined; work = this.#line.take()) {
      work();
      if (performance.now() >= until) break;
    }
    this.#armed = !this.#line.isEmpty;
    if (this.#armed) setImmediate(this.#turn);
  };
}

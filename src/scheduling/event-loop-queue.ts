import { countsOf } from './lane-counts.ts';
import type { LoopLimits } from './lanes.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';
import type { Caller } from './caller.ts';
import { currentCaller } from './current-caller.ts';

/**
 * Queue of work that computes on the event loop, such as planning histories or reading SQLite: one after the other,
 * with turns for other work in between. Tenants take turns; short work of one tenant runs together.
 */
export class EventLoopQueue {
  readonly #maxTurnMs: number;
  /** Yields as a tenant of its own, because the next caller is not known yet. */
  readonly #yieldsAs: Caller;
  readonly #queue: RoundRobinQueue<() => void>;
  #isBusy = false;
  #tookMs = 0;

  constructor({ name, maxTurnMs }: LoopLimits) {
    this.#maxTurnMs = maxTurnMs;
    this.#yieldsAs = { tokenId: '', tenant: `lane ${name}` };
    this.#queue = new RoundRobinQueue(countsOf(name));
  }

  /** Runs `work` in its turn; `followUpMs`: time that its result costs at once. */
  async run<T>(work: () => Promise<T>, followUpMs = 0): Promise<T> {
    if (this.#isBusy) await new Promise<void>((start) => this.#queue.add(currentCaller(), start));
    this.#isBusy = true;
    const from = performance.now();
    try {
      return await work();
    } finally {
      this.#tookMs += performance.now() - from + followUpMs;
      void this.#next();
    }
  }

  async #next(): Promise<void> {
    const mustYield = this.#tookMs > this.#maxTurnMs;
    if (mustYield) {
      await yieldToEventLoop(this.#yieldsAs);
      this.#tookMs = 0;
    }
    const start = this.#queue.take({ stays: !mustYield });
    if (start === undefined) this.#isBusy = false;
    else start();
  }
}

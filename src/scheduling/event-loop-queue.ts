import { RoundRobinQueue } from './round-robin-queue.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';
import type { Caller } from './caller.ts';
import { currentCaller } from './current-caller.ts';

/** Others have their turn when such work has taken so long: 200,000 buckets of a calendar take 20 ms. */
const GIVES_WAY_AFTER_MS = 20;

let lines = 0;

/**
 * Work that computes on the event loop, such as planning histories, or look-ups in SQLite, which are answered before the
 * loop turns: one after the other, and between them others have their turn, so that many do not hold up everybody. The
 * next is of the party whose turn it is: many short ones of one tenant go together.
 */
export class EventLoopQueue {
  readonly #givesWayAfterMs: number;
  /** As one that gives way it stands behind no tenant: who is next here is not known before. */
  readonly #self: Caller = { tokenId: '', tenant: `turns ${(lines += 1)}` };
  readonly #line = new RoundRobinQueue<() => void>();
  #isBusy = false;
  #tookMs = 0;

  constructor(givesWayAfterMs = GIVES_WAY_AFTER_MS) {
    this.#givesWayAfterMs = givesWayAfterMs;
  }

  /** What `work` gives or throws; `leadsToMs`: so long takes what comes of it, at once. */
  async run<T>(work: () => Promise<T>, leadsToMs = 0): Promise<T> {
    if (this.#isBusy) await new Promise<void>((begin) => this.#line.add(currentCaller(), begin));
    this.#isBusy = true;
    const from = performance.now();
    try {
      return await work();
    } finally {
      this.#tookMs += performance.now() - from + leadsToMs;
      void this.#goOn();
    }
  }

  async #goOn(): Promise<void> {
    const isOver = this.#tookMs > this.#givesWayAfterMs;
    if (isOver) {
      await yieldToEventLoop(this.#self);
      this.#tookMs = 0;
    }
    const begin = this.#line.take({ stays: !isOver });
    if (begin === undefined) this.#isBusy = false;
    else begin();
  }
}

import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { must } from '../../must.ts';

/** Maximum milliseconds per turn of the loop for events; then others have their turn. */
const GIVES_WAY_AFTER_MS = 20;

interface Crowd {
  from: number;
  /** An event not answered by then waits for more than the others. */
  isOver: boolean;
  /** Events per token, by its id. */
  events: Map<string, { party: Caller; count: number }>;
}

/**
 * Meters cheap answers to events. They come in crowds, and each of a crowd waits for the others: timed one by one, each
 * would take as long as the whole crowd, whose time is known when nothing of it goes on at once.
 */
export class EventMetering {
  readonly #spend: (party: Caller, milliseconds: number) => void;
  readonly #eachMs: number;
  #crowd: Crowd | null = null;

  /** `eachMs`: milliseconds that were charged to the caller for each event already. */
  constructor(spend: (party: Caller, milliseconds: number) => void, eachMs: number) {
    this.#spend = spend;
    this.#eachMs = eachMs;
  }

  /** Resolves with its crowd when the event may be answered: in a later turn when this one's took long. */
  async begin(party: Caller): Promise<Readonly<Pick<Crowd, 'isOver'>>> {
    while (this.#crowd !== null && performance.now() - this.#crowd.from > GIVES_WAY_AFTER_MS)
      await yieldToEventLoop(party);
    if (this.#crowd === null) {
      this.#crowd = { from: performance.now(), isOver: false, events: new Map() };
      // Runs after all that goes on without waiting for anything.
      process.nextTick(() => this.#over());
    }
    const { events } = this.#crowd;
    const known = events.get(party.tokenId);
    if (known === undefined) events.set(party.tokenId, { party, count: 1 });
    else known.count += 1;
    return this.#crowd;
  }

  #over(): void {
    const { from, events } = must(this.#crowd);
    must(this.#crowd).isOver = true;
    this.#crowd = null;
    const tookMs = performance.now() - from;
    let all = 0;
    for (const { count } of events.values()) all += count;
    const moreMs = tookMs / all - this.#eachMs;
    if (moreMs > 0) for (const { party, count } of events.values()) this.#spend(party, moreMs * count);
  }
}

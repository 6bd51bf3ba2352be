import { asResult, type BoundedStream, type LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { CallRow } from '../ports/store.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { type PrefetchCredits, Prefetch } from '../../scheduling/prefetch.ts';
import type { JustRead } from './just-read.ts';
import type { ToldCall } from './listeners.ts';
import { LoggedCall } from './logged-call.ts';

/** Up to hundreds of kilobytes each. */
const READ_AT_ONCE = 10;

/** Calls of the log, read after what was told by the number `after`. */
export interface LogPage {
  rows: CallRow[];
  after: number;
}

interface ReplayThenLiveDeps {
  /** What is logged from now on. */
  live: BoundedStream<ToldCall, LoggedCall>;
  /** Told what was read: `live` leaves out what is only then said to be logged. */
  justRead: JustRead;
  /** Of the logged ones that come first the last, and the one before them, by their ids; null: there is none. */
  upTo: string | null;
  after: string | null;
  /** Before each page. */
  turn: () => Promise<void>;
  /** Oldest first. */
  read: (after: { after?: string }, limit: number) => Promise<LogPage>;
  /** A page has a place until it is sent: its party's. */
  places: PrefetchCredits;
  party: Caller;
}

/** Calls of the log, read when they are taken, and then those that come; each of them once. */
export class ReplayThenLive implements LiveQueue<LoggedCall> {
  readonly #deps: ReplayThenLiveDeps;
  readonly #logged: Prefetch<LoggedCall>;
  #isBehind: boolean;
  #after: string | null;

  constructor(deps: ReplayThenLiveDeps) {
    this.#deps = deps;
    this.#isBehind = deps.upTo !== null;
    this.#after = deps.after;
    const { places, party, live } = deps;
    const onSlow = (): void => {
      this.#isBehind = false;
      live.tooSlow();
    };
    this.#logged = new Prefetch({ credits: places, caller: party, onSlow });
  }

  async take(most: number): Promise<LoggedCall[]> {
    // What was taken before is sent.
    this.#logged.release();
    while (this.#logged.isEmpty && this.#isBehind) {
      // With a place already it would be taken for one that reads slowly.
      await this.#deps.turn();
      await this.#logged.fill(() => this.#page());
    }
    return this.#logged.isEmpty ? this.#deps.live.take(most) : this.#logged.take(most);
  }

  async next(): Promise<IteratorResult<LoggedCall>> {
    return asResult(await this.take(1));
  }

  async return(): Promise<IteratorResult<LoggedCall>> {
    this.#isBehind = false;
    this.#logged.end();
    this.#deps.justRead.end();
    return this.#deps.live.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Others may be logged between those that were there, or vanish, meanwhile: they are not numbered. */
  async #page(): Promise<LoggedCall[]> {
    const { read: readAfter, upTo, live, justRead } = this.#deps;
    const { rows: page, after } = await readAfter(this.#after === null ? {} : { after: this.#after }, READ_AT_ONCE);
    const end = page.findIndex(({ id }) => id === upTo) + 1;
    const rows = end > 0 ? page.slice(0, end) : page;
    if (end > 0 || page.length < READ_AT_ONCE) this.#isBehind = false;
    justRead.add(
      rows.map(({ id }) => id),
      after,
    );
    // And what is told later: another node may say so only then, and here it may wait for its turn.
    live.drop((call) => justRead.isTold(call));
    this.#after = rows.at(-1)?.id ?? this.#after;
    return rows.map((row) => new LoggedCall(row));
  }
}

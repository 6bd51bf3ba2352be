import { asResult, type BoundedStream, type LiveQueue } from '../bounded-stream.ts';
import type { CallRow } from '../measurements/store.ts';
import { ReadAhead } from '../read-ahead.ts';
import { LoggedCall } from './logged-call.ts';

/** Up to hundreds of kilobytes each. */
const READ_AT_ONCE = 10;

interface LoggedThenLiveDeps {
  /** What is logged from now on. */
  live: BoundedStream<CallRow, LoggedCall>;
  /** How many of the logged ones come first, and the id of the one before them; null: there is none. */
  left: number;
  after: string | null;
  /** Oldest first. */
  read: (after: { after?: string }, limit: number) => Promise<CallRow[]>;
  /** A page has a place until it is sent (`PagePlaces`). */
  enter: () => Promise<() => void>;
}

/** Calls of the log, read when they are taken, and then those that come; each of them once. */
export class LoggedThenLive implements LiveQueue<LoggedCall> {
  readonly #deps: LoggedThenLiveDeps;
  readonly #logged: ReadAhead<LoggedCall>;
  #left: number;
  #after: string | null;

  constructor(deps: LoggedThenLiveDeps) {
    this.#deps = deps;
    this.#left = deps.left;
    this.#after = deps.after;
    this.#logged = new ReadAhead(deps.enter);
  }

  async take(most: number): Promise<LoggedCall[]> {
    while (this.#logged.isEmpty && this.#left > 0) await this.#logged.fill(() => this.#page());
    if (!this.#logged.isEmpty) return this.#logged.take(most);
    this.#logged.release();
    return this.#deps.live.take(most);
  }

  async next(): Promise<IteratorResult<LoggedCall>> {
    return asResult(await this.take(1));
  }

  async return(): Promise<IteratorResult<LoggedCall>> {
    this.#left = 0;
    this.#logged.end();
    return this.#deps.live.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #page(): Promise<LoggedCall[]> {
    const limit = Math.min(this.#left, READ_AT_ONCE);
    const rows = await this.#deps.read(this.#after === null ? {} : { after: this.#after }, limit);
    this.#left = rows.length < limit ? 0 : this.#left - rows.length;
    // What was logged, or replayed, before it was read.
    const read = new Set(rows.map(({ id }) => id));
    this.#deps.live.drop(({ id }) => read.has(id));
    this.#after = rows.at(-1)?.id ?? this.#after;
    return rows.map((row) => new LoggedCall(row));
  }
}

import { AppError } from '../../errors.ts';
import { asResult, BoundedStream, type LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { type PrefetchCredits, Prefetch } from '../../scheduling/prefetch.ts';
import type { Turns } from '../../scheduling/turns.ts';
import type { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import type { FeedCursor } from './feed-cursor.ts';
import { type RecordedEvent, toEvents } from './recorded-event.ts';
import type { MeasurementStore, RecordedPage, RecordedQuery } from '../ports/store.ts';

/** A subscriber as the feed sees it. */
export interface Follower {
  /** It has everything before this position. */
  readonly after: string;
  readonly party: Caller;
  readonly ended: boolean;
  /** It wants nothing of others; null: of any. */
  readonly deviceKeys: ReadonlySet<number> | null;
  /** Of one audience, of what concerns their devices, all accept the same. */
  readonly audience: unknown;
  /** Its reader goes on as soon as it is offered anything. */
  readonly isAwaited: boolean;
  /** Whether it wants what the device sends. A promise only when it takes a look at the database to know that. */
  accepts(deviceKey: number): boolean | Promise<boolean>;
  offer(event: RecordedEvent): void;
  /** What it is offered from now on is kept until it is let go. */
  hold(): void;
  /** What comes before that. */
  catchUp(event: RecordedEvent): void;
  letGo(): void;
  fail(error: unknown): void;
}

interface LiveFollowerDeps {
  cursor: FeedCursor;
  /** Of what was committed before it follows with the others: only what is not older (ms UTC). */
  notBefore: number;
  deviceKeys: ReadonlySet<number> | null;
  /** undefined: one of its own. */
  audience: string | undefined;
  accepts: (deviceKey: number) => boolean | Promise<boolean>;
  read: MeasurementStore['recorded'];
  /** Whoever catches up does so page by page … */
  turns: Turns;
  /** … each of which has a place until it is sent: its party's. */
  places: PrefetchCredits;
  /** What all who read slowly have. */
  unread: BacklogMemory;
  party: Caller;
  join: (follower: Follower) => void;
  leave: (follower: Follower) => void;
}

/** What a subscriber may leave unread before it is closed. */
const UNREAD_BYTES = 4 * 1024 * 1024;
const PAGE_READINGS = 1_000;

/**
 * One subscriber: as long as it has not caught up it reads the order of commits itself, a page whenever the one before
 * has been read; then it joins the others.
 */
export class LiveFollower implements Follower, LiveQueue<RecordedEvent> {
  readonly #deps: LiveFollowerDeps;
  readonly #stream: BoundedStream<RecordedEvent>;
  #cursor: FeedCursor;
  /** Read by itself. */
  readonly #own: Prefetch<RecordedEvent>;
  #isBehind = true;
  #ended = false;

  constructor(deps: LiveFollowerDeps) {
    this.#deps = deps;
    this.#cursor = deps.cursor;
    this.#own = new Prefetch({ credits: deps.places, caller: deps.party, onSlow: () => this.#stream.tooSlow() });
    this.#stream = new BoundedStream<RecordedEvent>({
      sizeOf: ({ bytes }) => bytes,
      read: (event) => event,
      maxUnread: UNREAD_BYTES,
      tooSlow: 'This subscriber reads too slowly; subscribe again with "after".',
      backlog: deps.unread.of(deps.party.tenant),
      onEnd: () => {
        this.#ended = true;
        this.#own.end();
        deps.leave(this);
      },
    });
  }

  get deviceKeys(): ReadonlySet<number> | null {
    return this.#deps.deviceKeys;
  }

  get party(): Caller {
    return this.#deps.party;
  }

  get audience(): unknown {
    return this.#deps.audience ?? this;
  }

  get after(): string {
    return this.#cursor.after;
  }

  /**
   * Rejects if the cursor is not good. What was recorded since it is read when it is taken; who is new, to whom that is
   * nothing, most often follows with the others at once.
   */
  async begin(isNew: boolean): Promise<void> {
    try {
      await this.#deps.turns.next();
      if (isNew) return this.#own.begin(await this.#readOn());
      await this.#deps.read({ ...this.#query(), limit: 1 });
    } catch (error) {
      await this.return();
      throw error;
    }
  }

  get ended(): boolean {
    return this.#ended;
  }

  get isAwaited(): boolean {
    return this.#stream.isAwaited;
  }

  offer(event: RecordedEvent): void {
    this.#stream.offer(event);
  }

  hold(): void {
    this.#stream.hold();
  }

  catchUp(event: RecordedEvent): void {
    this.#stream.before(event);
  }

  letGo(): void {
    this.#stream.letGo();
  }

  fail(error: unknown): void {
    this.#stream.fail(
      error instanceof AppError ? error : new AppError('UNAVAILABLE', 'Live values cannot be read.', { cause: error }),
    );
  }

  async take(most: number): Promise<RecordedEvent[]> {
    // What was taken before is sent.
    this.#own.release();
    while (!this.#ended && this.#own.isEmpty && this.#isBehind) {
      // With a place already it would be taken for one that reads slowly.
      await this.#deps.turns.next();
      await this.#own.fill(() => this.#readOn());
    }
    return this.#ended || this.#own.isEmpty ? this.#stream.take(most) : this.#own.take(most);
  }

  async next(): Promise<IteratorResult<RecordedEvent>> {
    return asResult(await this.take(1));
  }

  async return(): Promise<IteratorResult<RecordedEvent>> {
    return this.#stream.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  accepts(deviceKey: number): boolean | Promise<boolean> {
    const { deviceKeys, accepts } = this.#deps;
    return (deviceKeys === null || deviceKeys.has(deviceKey)) && accepts(deviceKey);
  }

  #query(): RecordedQuery {
    const { after, between } = this.#cursor;
    const { deviceKeys } = this.#deps;
    return {
      after,
      upTo: between?.upTo ?? null,
      place: between?.place ?? null,
      deviceKeys: deviceKeys && [...deviceKeys],
      limit: PAGE_READINGS,
    };
  }

  /** One page; what is complete makes it one of the others. */
  async #readOn(): Promise<RecordedEvent[]> {
    const { notBefore, read } = this.#deps;
    const { after, between } = this.#cursor;
    const page: RecordedPage = await read(this.#query());
    const events: RecordedEvent[] = [];
    for (const event of toEvents(page, after, { wants: ({ storedAt }) => storedAt >= notBefore })) {
      const accepted = this.accepts(event.deviceKey);
      if (typeof accepted === 'boolean' ? accepted : await accepted) events.push(event);
    }
    const last = page.readings.at(-1);
    if (!page.complete && last !== undefined) {
      const { seq, deviceKey, timestamp } = last;
      this.#cursor = { after, between: { upTo: page.upTo, place: { seq, deviceKey, timestamp } } };
      return events;
    }
    // Behind the end of what a cursor stood between there may be much more.
    this.#cursor = { after: page.upTo, between: null };
    if (between !== null || page.readings.length >= PAGE_READINGS / 2) return events;
    this.#isBehind = false;
    if (!this.#ended) this.#deps.join(this);
    return events;
  }
}

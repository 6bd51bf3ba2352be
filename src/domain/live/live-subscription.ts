import { AppError } from '../../errors.ts';
import type { TenantBacklog } from '../../scheduling/backlog-memory.ts';
import { asResult, BoundedStream, type BoundedStreamOptions, type LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { Prefetch, type PrefetchCredits } from '../../scheduling/prefetch.ts';
import type { Turns } from '../../scheduling/turns.ts';

/** Sizes, bounds and outside of a feed's events. */
export type EventShape<Event, Out> = Omit<BoundedStreamOptions<Event, Out>, 'backlog' | 'onEnd'>;

/** Events that a subscriber wants. */
export interface Interest<Event, Topic> {
  /** null: any. */
  topics: ReadonlySet<Topic> | null;
  /** Subscribers of one audience accept the same topics, of those that they name. Left out: one of its own. */
  audience?: string | undefined;
  /** Returns a promise only if it has to ask the database. Left out: all. */
  accepts?: (topic: Topic) => boolean | Promise<boolean>;
  /** Left out: all of the accepted topics. */
  wants?: (event: Event) => boolean;
}

/** A page of what was there before the subscription; `isLast`: the live events come behind it. */
export interface OlderPage<Out> {
  items: Out[];
  isLast: boolean;
}

/** Caller and turns of a subscriber that reads what is older than its subscription. */
export interface LiveReader {
  party: Caller;
  turns: Turns;
}

interface LiveSubscriptionDeps<Event, Topic, Out> {
  interest: Interest<Event, Topic>;
  shape: EventShape<Event, Out>;
  backlog: TenantBacklog;
  onEnd: () => void;
}

/** One subscriber's queue: first what is older than the subscription, read when it is taken, then the live events. */
export class LiveSubscription<Event, Topic, Out = Event> implements LiveQueue<Out> {
  readonly interest: Interest<Event, Topic>;
  readonly #stream: BoundedStream<Event, Out>;
  /** null: nothing older is left. */
  #older: { pages: Prefetch<Out>; next: () => Promise<boolean> } | null = null;
  #isEnded = false;

  constructor({ interest, shape, backlog, onEnd }: LiveSubscriptionDeps<Event, Topic, Out>) {
    this.interest = interest;
    this.#stream = new BoundedStream({
      ...shape,
      backlog,
      onEnd: () => {
        this.#isEnded = true;
        this.#older?.pages.end();
        onEnd();
      },
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Whether its reader goes on as soon as an event is offered. */
  get isAwaited(): boolean {
    return this.#stream.isAwaited;
  }

  get audience(): unknown {
    return this.interest.audience ?? this;
  }

  offer(event: Event): void {
    this.#stream.offer(event);
  }

  /** Removes events that are obsolete and not yet taken. */
  drop(isObsolete: (event: Event) => boolean): void {
    this.#stream.drop(isObsolete);
  }

  /** Puts what `read` gives before the live events: a page in the reader's turn, once the one before it is sent. */
  readFirst(read: () => Promise<OlderPage<Out>>, { party, turns }: LiveReader, credits: PrefetchCredits): void {
    const pages = new Prefetch<Out>({ credits, caller: party, onSlow: () => this.#stream.tooSlow() });
    let isLast = false;
    const next = async (): Promise<boolean> => {
      if (isLast) return false;
      // With a credit already it would count as slow while it waits for its turn.
      await turns.next();
      await pages.fill(async () => {
        const page = await read();
        isLast = page.isLast;
        return page.items;
      });
      return true;
    };
    this.#older = { pages, next };
  }

  async take(max: number): Promise<Out[]> {
    while (this.#older !== null && !this.#isEnded) {
      const { pages, next } = this.#older;
      // What was taken before is sent.
      pages.release();
      if (!pages.isEmpty) return pages.take(max);
      if (!(await next())) this.#older = null;
    }
    return this.#stream.take(max);
  }

  async next(): Promise<IteratorResult<Out>> {
    return asResult(await this.take(1));
  }

  /** Ends it with an error. */
  fail(error: unknown): void {
    const reason =
      error instanceof AppError ? error : new AppError('UNAVAILABLE', 'Live events cannot be read.', { cause: error });
    this.#stream.fail(reason);
  }

  async return(): Promise<IteratorResult<Out>> {
    return this.#stream.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

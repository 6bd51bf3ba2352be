import { AppError } from '../../errors.ts';
import { Alarm } from '../../scheduling/alarm.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { NOBODY, type Caller } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { pause } from '../../scheduling/pause.ts';
import { PrefetchCredits } from '../../scheduling/prefetch.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { type Cluster, earliestNow } from '../ports/cluster.ts';
import type { MeasurementStore, RecordedPage, RecordedQuery } from '../ports/store.ts';
import { behind, decodeCursor, type FeedCursor, queryBehind } from './feed-cursor.ts';
import { LiveFeed } from './live-feed.ts';
import type { LiveSubscription, OlderPage } from './live-subscription.ts';
import { type RecordedEvent, toEvents } from './recorded-event.ts';

interface RecordedFeedDeps {
  store: Pick<MeasurementStore, 'position' | 'recorded'>;
  cluster: Cluster;
  now: () => number;
  /** Told of a read that failed; it is repeated a second later. */
  onError: (error: unknown) => void;
}

/** Recorded values that a subscriber wants. */
interface RecordedInterest {
  /** null: of any device. */
  deviceKeys?: ReadonlySet<number> | null;
  /** Subscribers of one audience accept the same devices, of those that they name. */
  audience?: string;
  accepts: (deviceKey: number) => boolean | Promise<boolean>;
  /** Cursor of an event: begins with everything recorded since. */
  after?: string | undefined;
  /** Left out: it is always its turn. */
  turns?: Turns;
  /** Left out: nobody. */
  party?: Caller;
}

/** A subscriber and how far it has come. */
interface Follower {
  subscription: LiveSubscription<RecordedEvent, number>;
  accepts: RecordedInterest['accepts'];
  cursor: FeedCursor;
  /** Earlier events are not its own (ms UTC); -Infinity: it came with a cursor. */
  since: number;
  /** Resolves with the position from which on it gets what the others get; null: it has not caught up with them. */
  joined: Promise<string> | null;
  turns: Turns;
}

/** Maximum unread bytes of a subscription. */
const MAX_UNREAD = 4 * 1024 * 1024;
/** Readings per page for all subscribers, and for one that catches up. */
const PAGE_READINGS = 2_000;
const OWN_PAGE_READINGS = 1_000;
/** Processor time to read a reading back, most of it between threads. */
const READING_MS = 0.003;
/** Readings found by one look from which on more than a few devices send at once: each is told of in fewer events. */
const MANY_READINGS = 40;
/** Maximum time between what a device recorded that comes as one event then. */
const TOGETHER_MS = 100;
const ALWAYS: Turns = { next: async () => {}, spend: () => {} };
/** Pause between two looks: one serves what is recorded meanwhile. */
const SHORTEST_MS = 5;
/** After a look that found nothing or very much, this many times as long as it took, at most `LONGEST_MS`. */
const REST_FACTOR = 10;
const LONGEST_MS = 25;
const TELL_OTHERS_MS = 10;
/** Pause between two looks when nothing is said to be recorded: what other nodes say may be lost. */
const LOOK_ANYWAY_MS = 1_000;
const AFTER_FAILURE_MS = 1_000;

/**
 * Live values (CONTRACT 7). The order of commits is in the database, and is followed there by one reader for all
 * subscribers of a node, woken by what is recorded here and elsewhere. A subscriber that comes back with a cursor first
 * reads from there by itself. So nothing is missed whatever dies meanwhile, and nothing is kept in memory for it.
 */
export class RecordedFeed {
  readonly #deps: RecordedFeedDeps;
  readonly #live = new LiveFeed<RecordedEvent, number>(({ deviceKey }) => deviceKey, {
    sizeOf: ({ bytes }) => bytes,
    read: (event) => event,
    maxUnread: MAX_UNREAD,
    tooSlow: 'This subscriber reads too slowly; subscribe again with "after".',
  });
  /** Shared by those that catch up. */
  readonly #catchingUp = { pages: new SingleFlight<RecordedPage>(), credits: new PrefetchCredits() };
  readonly #alarm = new Alarm();
  /** Subscribers that have caught up as far as they know, each with what tells it where the others stand. */
  readonly #joining = new Map<LiveSubscription<RecordedEvent, number>, (position: string) => void>();
  /** How far the subscribers have come; without any a position of a moment ago, so that a new one waits for nothing. */
  #cursor: FeedCursor | null = null;
  readonly #news: RecordedNews;
  #isStopped = false;

  constructor(deps: RecordedFeedDeps) {
    this.#deps = deps;
    this.#news = new RecordedNews(deps.cluster);
    this.#news.onHeard(() => this.#isFollowed && this.#alarm.ring());
    void runAs(NOBODY, () => this.#run());
  }

  /** Calls the listener whenever something was recorded, here or elsewhere. */
  onRecorded(listener: () => void): void {
    this.#news.onHeard(listener);
  }

  /** Call it after the commit of what was recorded on this node. Never waits. */
  recorded(): void {
    this.#news.tell();
  }

  /**
   * Gives what is recorded from now on. Ends when returned; throws OVERLOADED when too much is left unread, CURSOR_EXPIRED
   * when what came after the cursor is no longer kept, BAD_USER_INPUT for a cursor that is none.
   */
  async subscribe({
    deviceKeys = null,
    audience,
    accepts,
    after,
    turns = ALWAYS,
    party = NOBODY,
  }: RecordedInterest): Promise<LiveQueue<RecordedEvent>> {
    const known = after === undefined ? null : decodeCursor(after);
    const since = known === null ? earliestNow(this.#deps) : -Infinity;
    const position = this.#cursor?.after ?? (await this.#deps.store.position());
    const cursor = known ?? { after: position, between: null };
    const subscription = this.#live.open({ topics: deviceKeys, audience, accepts }, party.tenant, () => {
      this.#joining.get(subscription)?.('');
      this.#joining.delete(subscription);
    });
    const follower: Follower = { subscription, accepts, cursor, since, joined: null, turns };
    try {
      await turns.next();
      // Refuses an expired cursor at once. A subscriber without one has caught up.
      if (known !== null) await this.#read(queryBehind(cursor, deviceKeys, 1));
      else follower.joined = this.#join(subscription);
    } catch (error) {
      await subscription.return();
      throw error;
    }
    subscription.readFirst(() => this.#readOlder(follower), { party, turns }, this.#catchingUp.credits);
    return subscription;
  }

  stop(): void {
    this.#isStopped = true;
    this.#alarm.ring();
  }

  /** A page of what a subscriber has not got yet: up to now, and when it has joined the others, up to where they stood. */
  async #readOlder(follower: Follower): Promise<OlderPage<RecordedEvent>> {
    const { subscription, accepts, cursor, since, turns } = follower;
    const joinedAt = await follower.joined;
    if (subscription.isEnded || cursor.after === joinedAt) return { items: [], isLast: true };
    const query = queryBehind(cursor, subscription.interest.topics, OWN_PAGE_READINGS, joinedAt);
    // Those that come back at once read the same pages.
    const reading = this.#catchingUp.pages.of(JSON.stringify(query), async () => {
      const read = await this.#read(query);
      turns.spend(read.readings.length * READING_MS);
      return read;
    });
    const page = await reading.catch((error: unknown) => {
      if (since === -Infinity || !isExpiry(error)) throw error;
      return null;
    });
    // The position that was known is of before a failover, and nothing was recorded since.
    if (page === null) return { items: [], isLast: true };
    const items: RecordedEvent[] = [];
    for (const event of toEvents(page, cursor.after))
      if (event.receivedAt >= since && (await accepts(event.deviceKey))) items.push(event);
    follower.cursor = behind(cursor, page);
    const isAtEnd = follower.cursor.between === null && !page.more;
    if (isAtEnd && joinedAt === null && cursor.between === null && page.readings.length < OWN_PAGE_READINGS / 2)
      follower.joined = this.#join(subscription);
    return { items, isLast: isAtEnd && joinedAt !== null };
  }

  readonly #read = async (query: RecordedQuery): Promise<RecordedPage> => {
    const page = await this.#deps.store.recorded(query);
    if (page.expired)
      throw new AppError(
        'CURSOR_EXPIRED',
        'What was recorded after this cursor is no longer kept in its order; read it with `history` and subscribe without "after".',
      );
    return page;
  };

  /** Resolves when the subscription gets what the others get, with where they stand then, or when it has ended. */
  #join(subscription: LiveSubscription<RecordedEvent, number>): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    if (subscription.isEnded) resolve('');
    else this.#joining.set(subscription, resolve);
    this.#alarm.ring();
    return promise;
  }

  get #isFollowed(): boolean {
    return this.#live.size > 0 || this.#joining.size > 0;
  }

  /** Looks on nobody's account, until it is stopped. */
  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const began = performance.now();
      try {
        const found = await this.#look();
        const isBusy = found > 0 && found < MANY_READINGS;
        const rest = isBusy ? 0 : REST_FACTOR * (performance.now() - began);
        if (this.#isFollowed) await pause(Math.min(Math.max(rest, SHORTEST_MS), LONGEST_MS));
        await this.#alarm.sleep(LOOK_ANYWAY_MS);
      } catch (error) {
        if (isExpiry(error)) this.#live.fail(error);
        else if (this.#isFollowed && !this.#isStopped) this.#deps.onError(error);
        if (isExpiry(error) || !this.#isFollowed) this.#cursor = null;
        await pause(AFTER_FAILURE_MS);
      }
    }
  }

  /** Hands out what was committed since the last look; resolves with the number of readings. */
  async #look(): Promise<number> {
    // One that goes on where the database failed ends where it would have: whoever came since then stands behind that.
    const isResumed = this.#cursor !== null && this.#cursor.between !== null;
    const ready = isResumed ? [] : [...this.#joining.keys()];
    let found = 0;
    const isStale = this.#live.size === 0 && (this.#news.isUnseen || ready.length > 0);
    this.#news.isUnseen = false;
    let cursor = this.#cursor;
    // Whoever subscribes meanwhile begins at the stale one: what is recorded until then is its own.
    if (cursor === null || isStale) cursor = this.#cursor = { after: await this.#deps.store.position(), between: null };
    let page: RecordedPage | null = null;
    if (this.#live.size > 0)
      do {
        page = await this.#read(queryBehind(cursor, this.#live.topics, PAGE_READINGS));
        const apartMs = page.readings.length < MANY_READINGS ? undefined : TOGETHER_MS;
        await this.#live.notify(toEvents(page, cursor.after, apartMs));
        cursor = this.#cursor = behind(cursor, page);
        found += page.readings.length;
      } while (cursor.between !== null || page.more);
    await this.#takeIn(ready, cursor.after);
    if (isResumed) this.#alarm.ring();
    return found;
  }

  /** In slices: each may name a thousand devices. */
  async #takeIn(ready: readonly LiveSubscription<RecordedEvent, number>[], position: string): Promise<void> {
    const slices = new Slices(NOBODY);
    for (const subscription of ready) {
      if (slices.isOver) await slices.next();
      this.#live.add(subscription);
      this.#joining.get(subscription)?.(position);
      this.#joining.delete(subscription);
    }
  }
}

/** Hears that something was recorded, here or on another node, and tells the others. */
class RecordedNews {
  readonly #cluster: Cluster;
  readonly #listeners: (() => void)[] = [];
  #isTelling = false;
  /** Something was recorded since the last look. */
  isUnseen = true;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    cluster.onMessage('recorded', () => this.#heard());
  }

  onHeard(listener: () => void): void {
    this.#listeners.push(listener);
  }

  tell(): void {
    this.#heard();
    if (!this.#cluster.shared || this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => {
      this.#isTelling = false;
      this.#cluster.publish('recorded', '');
    }, TELL_OTHERS_MS).unref();
  }

  #heard(): void {
    this.isUnseen = true;
    for (const listener of this.#listeners) listener();
  }
}

function isExpiry(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'CURSOR_EXPIRED';
}

import { AppError } from '../../errors.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { type Cluster, earliestNow } from '../ports/cluster.ts';
import { decodeCursor, type FeedCursor } from './feed-cursor.ts';
import { RoundRobinQueue } from '../../scheduling/round-robin-queue.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { Subscribers } from './subscribers.ts';
import { type Follower, LiveFollower } from './live-follower.ts';
import type { RecordedEvent } from './recorded-event.ts';
import { NOBODY, type Caller } from '../../scheduling/caller.ts';
import { pause } from '../../scheduling/pause.ts';
import { PrefetchCredits } from '../../scheduling/prefetch.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import { MANY_READINGS, newStretch, type LogRange, tellStretch, type Told } from './log-range.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { MeasurementStore, RecordedPage, RecordedQuery } from '../ports/store.ts';

interface FeedDeps {
  store: Pick<MeasurementStore, 'position' | 'recorded'>;
  cluster: Cluster;
  now: () => number;
  /** The database did not answer; it is asked again a second later. */
  onError: (error: unknown) => void;
}

/** What somebody follows. `deviceKeys`: only these; null: any. `accepts`: whether it wants what this device sends. */
interface FeedSubscription {
  deviceKeys?: ReadonlySet<number> | null;
  /** Whose `accepts` are alike, but for `deviceKeys`, have the same. */
  audience?: string;
  accepts: (deviceKey: number) => boolean | Promise<boolean>;
  /** A cursor of an event: begins with everything recorded since. */
  after?: string | undefined;
  /** Left out: it is always its turn. */
  turns?: Turns;
  /** Whose memory what it reads ahead is; left out: nobody's. */
  party?: Caller;
}

/** What reading one back takes of the processor, most of it for the way between threads. */
const READING_MS = 0.003;
const ALWAYS: Turns = { next: async () => {}, spend: () => {} };
/** One look at the database serves what was recorded meanwhile. */
const SHORTEST_MS = 5;
/** A look that finds nothing, or very much, can wait: so many times as long as it took, but not longer than this. */
const RESTS = 10;
const LONGEST_MS = 25;
/** After so long what was recorded goes before the next of those who come: a thousand of one token would hold it up for a second. */
const TAKES_IN_MS = 10;
const TELL_OTHERS_MS = 10;
/** Other nodes say when they record; should that be lost, we look anyway. */
const LOOK_ANYWAY_MS = 1_000;
const AFTER_FAILURE_MS = 1_000;

/**
 * Live values (CONTRACT 7). The order of commits is in the database, so that is what is followed: one reader of it for
 * all subscribers of a node, woken by what is recorded here and elsewhere. A subscriber that comes back with a cursor
 * first reads from there by itself. Nothing is missed whatever dies meanwhile, and nothing is kept in memory for it.
 */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #followers = new Subscribers();
  readonly #reading = new SingleFlight<RecordedPage>();
  readonly #places = new PrefetchCredits();
  readonly #unread = new BacklogMemory();
  /** Those who have caught up, as far as they know. */
  readonly #joining = new Set<Follower>();
  /** Those who follow, but were not told yet what lies between them and where it stood when they came: up to there. */
  #entering = new RoundRobinQueue<{ follower: Follower; upTo: string | null }>();
  /** Everything before it has been handed out; null: nobody follows. */
  #position: string | null = null;
  /** What was being handed out when the database failed. */
  #begun: LogRange | null = null;
  /** Where the order of commits stood not long ago, while nobody follows. */
  #lastKnown: string | null = null;
  #isDirty = true;
  readonly #looking: NodeJS.Timeout;
  #isRunning = false;
  #awake = false;
  #wake = (): void => {};
  #telling = false;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
    deps.cluster.onMessage('recorded', () => this.#look());
    this.#looking = setInterval(() => void this.#keepKnown(), LOOK_ANYWAY_MS).unref();
    void this.#keepKnown();
  }

  /** Something was recorded on this node: call after the commit. Never waits. */
  recorded(): void {
    this.#look();
    if (!this.#deps.cluster.shared || this.#telling) return;
    this.#telling = true;
    setTimeout(() => {
      this.#telling = false;
      this.#deps.cluster.publish('recorded', '');
    }, TELL_OTHERS_MS).unref();
  }

  /**
   * Ends when returned; throws OVERLOADED when too much is left unread, CURSOR_EXPIRED when what came after the cursor is
   * no longer kept, BAD_USER_INPUT for a cursor that is none.
   */
  async subscribe({
    deviceKeys = null,
    audience,
    accepts,
    after,
    turns = ALWAYS,
    party = NOBODY,
  }: FeedSubscription): Promise<LiveQueue<RecordedEvent>> {
    // What is recorded from this moment on: where the order of commits stood a little earlier is known without waiting.
    const isNew = after === undefined;
    const subscribedAt = earliestNow(this.#deps);
    const begin = async (cursor: FeedCursor): Promise<LiveQueue<RecordedEvent>> => {
      const follower = new LiveFollower({
        cursor,
        notBefore: isNew ? subscribedAt : -Infinity,
        deviceKeys,
        audience,
        accepts,
        // Those who come at once read the same pages.
        read: (query) =>
          this.#reading.of(JSON.stringify(query), async () => {
            const page = await this.#read(query);
            turns.spend(page.readings.length * READING_MS);
            return page;
          }),
        turns,
        places: this.#places,
        unread: this.#unread,
        party,
        join: (ready) => this.#join(ready),
        leave: (gone) => this.#leave(gone),
      });
      // So that a cursor that has expired is told at once.
      await follower.begin(isNew);
      return follower;
    };
    if (!isNew) return begin(decodeCursor(after));
    const known = await this.#known();
    try {
      return await begin({ after: known, between: null });
    } catch (error) {
      if (!isExpiry(error)) throw error;
      // What was known is of before a failover, and nothing was recorded since.
      if (this.#lastKnown === known) this.#lastKnown = null;
      return begin({ after: await this.#deps.store.position(), between: null });
    }
  }

  /** Ends looking where the order of commits stands. */
  stop(): void {
    clearInterval(this.#looking);
  }

  /** A position that is at most about a second old. */
  #known(): string | Promise<string> {
    return this.#position ?? this.#lastKnown ?? this.#deps.store.position();
  }

  async #keepKnown(): Promise<void> {
    if (this.#position !== null || !(this.#isDirty || this.#deps.cluster.shared || this.#lastKnown === null)) return;
    this.#isDirty = false;
    // Whoever subscribes meanwhile, or while the database is away, asks for it.
    this.#lastKnown = await this.#deps.store.position().catch(() => null);
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

  #join(follower: Follower): void {
    this.#joining.add(follower);
    this.#start();
    this.#look();
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    // Of nobody's share, whoever it was that came first.
    void runAs(NOBODY, () => this.#run()).finally(() => {
      this.#isRunning = false;
      if (this.#joining.size > 0) this.#start();
    });
  }

  #leave(follower: Follower): void {
    this.#followers.delete(follower);
    this.#joining.delete(follower);
    if (this.#followers.size === 0) this.#look();
  }

  #look(): void {
    this.#isDirty = true;
    this.#awake = true;
    this.#wake();
  }

  /** Until nobody follows any more. */
  async #run(): Promise<void> {
    while (this.#followers.size > 0 || this.#joining.size > 0) {
      this.#awake = false;
      const began = performance.now();
      try {
        // Who has caught up before this look: what others read by themselves meanwhile may lie beyond it. One that goes on
        // where it has failed is older than all who have come since.
        const goesOn = this.#begun !== null;
        const ready = goesOn ? [] : [...this.#joining];
        const found = await this.#handOut();
        // Its end is where it was: what came since lies behind that.
        if (goesOn) this.#awake = true;
        await this.#takeIn(ready);
        const isBusy = this.#isTakingIn || (found > 0 && found < MANY_READINGS);
        const rest = isBusy ? 0 : RESTS * (performance.now() - began);
        await pause(Math.min(Math.max(rest, SHORTEST_MS), LONGEST_MS));
      } catch (error) {
        if (this.#followers.size === 0 && this.#joining.size === 0) break;
        if (isExpiry(error)) this.#failAll(error);
        else this.#deps.onError(error);
        await pause(AFTER_FAILURE_MS);
        // What was to be handed out still is, though nobody may record anything for hours.
        this.#awake = true;
      }
      if (!this.#awake && !this.#isTakingIn) await this.#sleep();
    }
    this.#lastKnown = this.#position;
    this.#forgetPosition();
    // All of them are gone.
    this.#entering = new RoundRobinQueue();
  }

  /** What was committed since the last look, to all who follow: so many readings. */
  async #handOut(): Promise<number> {
    if (this.#followers.size === 0) this.#forgetPosition();
    this.#position ??= await this.#deps.store.position();
    this.#begun ??= newStretch(this.#position, null, this.#followers.deviceKeys);
    const { upTo, count } = await tellStretch(this.#begun, this.#read, (key) => this.#followers.ofDevice(key));
    this.#position = upTo;
    this.#begun = null;
    return count;
  }

  #forgetPosition(): void {
    this.#position = null;
    this.#begun = null;
  }

  get #isTakingIn(): boolean {
    return this.#joining.size > 0 || !this.#entering.isEmpty;
  }

  /**
   * Those who have caught up follow from here on; some of them, of each token in its turn, are told what lies before that,
   * of which there is no more the longer the others wait for it. Each may name a thousand devices.
   */
  async #takeIn(ready: readonly Follower[]): Promise<void> {
    const slices = new Slices(NOBODY);
    for (const follower of ready) {
      if (slices.isOver) await slices.next();
      this.#joining.delete(follower);
      // Gone meanwhile.
      if (follower.ended) continue;
      follower.hold();
      this.#followers.add(follower);
      this.#entering.add(follower.party, { follower, upTo: this.#position });
    }
    const until = performance.now() + TAKES_IN_MS;
    while (performance.now() <= until) {
      const next = this.#entering.take();
      if (next === undefined) return;
      const { follower, upTo } = next;
      if (follower.ended) continue;
      const deviceKeys = follower.deviceKeys && [...follower.deviceKeys];
      const told: Told = {
        accepts: (deviceKey) => follower.accepts(deviceKey),
        // One reader, once.
        isAwaited: false,
        offer: (event) => follower.catchUp(event),
      };
      try {
        await tellStretch(newStretch(follower.after, upTo, deviceKeys), this.#read, () => [[told]]);
        follower.letGo();
      } catch (error) {
        follower.fail(error);
      }
    }
  }

  #failAll(error: AppError): void {
    this.#forgetPosition();
    for (const follower of this.#followers) follower.fail(error);
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.cluster.shared ? setTimeout(() => this.#wake(), LOOK_ANYWAY_MS) : null;
      timer?.unref();
      this.#wake = () => {
        if (timer !== null) clearTimeout(timer);
        this.#wake = () => {};
        resolve();
      };
    });
  }
}

function isExpiry(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'CURSOR_EXPIRED';
}

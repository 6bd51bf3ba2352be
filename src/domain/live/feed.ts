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
  /** undefinedTheundefined undefineddatabaseundefined undefineddidundefined undefinednotundefined undefinedanswerundefined; undefineditundefined undefinedisundefined undefinedaskedundefined undefinedagainundefined undefinedaundefined undefinedsecondundefined undefinedlaterundefined. */
  onError: (error: unknown) => void;
}

/** undefinedWhatundefined undefinedsomebodyundefined undefinedfollowsundefined. `undefineddeviceKeysundefined`: undefinedonlyundefined undefinedtheseundefined; undefinednullundefined: undefinedanyundefined. `undefinedacceptsundefined`: undefinedwhetherundefined undefineditundefined undefinedwantsundefined undefinedwhatundefined undefinedthisundefined undefineddeviceundefined undefinedsendsundefined. */
interface FeedSubscription {
  deviceKeys?: ReadonlySet<number> | null;
  /** undefinedWhoseundefined `undefinedacceptsundefined` undefinedareundefined undefinedalikeundefined, undefinedbutundefined undefinedforundefined `undefineddeviceKeysundefined`, undefinedhaveundefined undefinedtheundefined undefinedsameundefined. */
  audience?: string;
  accepts: (deviceKey: number) => boolean | Promise<boolean>;
  /** undefinedAundefined undefinedcursorundefined undefinedofundefined undefinedanundefined undefinedeventundefined: undefinedbeginsundefined undefinedwithundefined undefinedeverythingundefined undefinedrecordedundefined undefinedsinceundefined. */
  after?: string | undefined;
  /** undefinedLeftundefined undefinedoutundefined: undefineditundefined undefinedisundefined undefinedalwaysundefined undefineditsundefined undefinedturnundefined. */
  turns?: Turns;
  /** undefinedWhoseundefined undefinedmemoryundefined undefinedwhatundefined undefineditundefined undefinedreadsundefined undefinedaheadundefined undefinedisundefined; undefinedleftundefined undefinedoutundefined: undefinednobodyundefined'undefinedsundefined. */
  party?: Caller;
}

/** undefinedWhatundefined undefinedreadingundefined undefinedoneundefined undefinedbackundefined undefinedtakesundefined undefinedofundefined undefinedtheundefined undefinedprocessorundefined, undefinedmostundefined undefinedofundefined undefineditundefined undefinedforundefined undefinedtheundefined undefinedwayundefined undefinedbetweenundefined undefinedthreadsundefined. */
const READING_MS = 0.003;
const ALWAYS: Turns = { next: async () => {}, spend: () => {} };
/** undefinedOneundefined undefinedlookundefined undefinedatundefined undefinedtheundefined undefineddatabaseundefined undefinedservesundefined undefinedwhatundefined undefinedwasundefined undefinedrecordedundefined undefinedmeanwhileundefined. */
const SHORTEST_MS = 5;
/** undefinedAundefined undefinedlookundefined undefinedthatundefined undefinedfindsundefined undefinednothingundefined, undefinedorundefined undefinedveryundefined undefinedmuchundefined, undefinedcanundefined undefinedwaitundefined: undefinedsoundefined undefinedmanyundefined undefinedtimesundefined undefinedasundefined undefinedlongundefined undefinedasundefined undefineditundefined undefinedtookundefined, undefinedbutundefined undefinednotundefined undefinedlongerundefined undefinedthanundefined undefinedthisundefined. */
const RESTS = 10;
const LONGEST_MS = 25;
/** undefinedAfterundefined undefinedsoundefined undefinedlongundefined undefinedwhatundefined undefinedwasundefined undefinedrecordedundefined undefinedgoesundefined undefinedbeforeundefined undefinedtheundefined undefinednextundefined undefinedofundefined undefinedthoseundefined undefinedwhoundefined undefinedcomeundefined: undefinedaundefined undefinedthousandundefined undefinedofundefined undefinedoneundefined undefinedtokenundefined undefinedwouldundefined undefinedholdundefined undefineditundefined undefinedupundefined undefinedforundefined undefinedaundefined undefinedsecondundefined. */
const TAKES_IN_MS = 10;
const TELL_OTHERS_MS = 10;
/** undefinedOtherundefined undefinednodesundefined undefinedsayundefined undefinedwhenundefined undefinedtheyundefined undefinedrecordundefined; undefinedshouldundefined undefinedthatundefined undefinedbeundefined undefinedlostundefined, undefinedweundefined undefinedlookundefined undefinedanywayundefined. */
const LOOK_ANYWAY_MS = 1_000;
const AFTER_FAILURE_MS = 1_000;

/**
 * undefinedLiveundefined undefinedvaluesundefined (undefinedCONTRACTundefined undefined7undefined). undefinedTheundefined undefinedorderundefined undefinedofundefined undefinedcommitsundefined undefinedisundefined undefinedinundefined undefinedtheundefined undefineddatabaseundefined, undefinedsoundefined undefinedthatundefined undefinedisundefined undefinedwhatundefined undefinedisundefined undefinedfollowedundefined: undefinedoneundefined undefinedreaderundefined undefinedofundefined undefineditundefined undefinedforundefined
 * undefinedallundefined undefinedsubscribersundefined undefinedofundefined undefinedaundefined undefinednodeundefined, undefinedwokenundefined undefinedbyundefined undefinedwhatundefined undefinedisundefined undefinedrecordedundefined undefinedhereundefined undefinedandundefined undefinedelsewhereundefined. undefinedAundefined undefinedsubscriberundefined undefinedthatundefined undefinedcomesundefined undefinedbackundefined undefinedwithundefined undefinedaundefined undefinedcursorundefined
 * undefinedfirstundefined undefinedreadsundefined undefinedfromundefined undefinedthereundefined undefinedbyundefined undefineditselfundefined. undefinedNothingundefined undefinedisundefined undefinedmissedundefined undefinedwhateverundefined undefineddiesundefined undefinedmeanwhileundefined, undefinedandundefined undefinednothingundefined undefinedisundefined undefinedkeptundefined undefinedinundefined undefinedmemoryundefined undefinedforundefined undefineditundefined.
 */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #followers = new Subscribers();
  readonly #reading = new SingleFlight<RecordedPage>();
  readonly #places = new PrefetchCredits();
  readonly #unread = new BacklogMemory();
  /** undefinedThoseundefined undefinedwhoundefined undefinedhaveundefined undefinedcaughtundefined undefinedupundefined, undefinedasundefined undefinedfarundefined undefinedasundefined undefinedtheyundefined undefinedknowundefined. */
  readonly #joining = new Set<Follower>();
  /** undefinedThoseundefined undefinedwhoundefined undefinedfollowundefined, undefinedbutundefined undefinedwereundefined undefinednotundefined undefinedtoldundefined undefinedyetundefined undefinedwhatundefined undefinedliesundefined undefinedbetweenundefined undefinedthemundefined undefinedandundefined undefinedwhereundefined undefineditundefined undefinedstoodundefined undefinedwhenundefined undefinedtheyundefined undefinedcameundefined: undefinedupundefined undefinedtoundefined undefinedthereundefined. */
  #entering = new RoundRobinQueue<{ follower: Follower; upTo: string | null }>();
  /** undefinedEverythingundefined undefinedbeforeundefined undefineditundefined undefinedhasundefined undefinedbeenundefined undefinedhandedundefined undefinedoutundefined; undefinednullundefined: undefinednobodyundefined undefinedfollowsundefined. */
  #position: string | null = null;
  /** undefinedWhatundefined undefinedwasundefined undefinedbeingundefined undefinedhandedundefined undefinedoutundefined undefinedwhenundefined undefinedtheundefined undefineddatabaseundefined undefinedfailedundefined. */
  #begun: LogRange | null = null;
  /** undefinedWhereundefined undefinedtheundefined undefinedorderundefined undefinedofundefined undefinedcommitsundefined undefinedstoodundefined undefinednotundefined undefinedlongundefined undefinedagoundefined, undefinedwhileundefined undefinednobodyundefined undefinedfollowsundefined. */
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

  /** undefinedSomethingundefined undefinedwasundefined undefinedrecordedundefined undefinedonundefined undefinedthisundefined undefinednodeundefined: undefinedcallundefined undefinedafterundefined undefinedtheundefined undefinedcommitundefined. undefinedNeverundefined undefinedwaitsundefined. */
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
   * undefinedEndsundefined undefinedwhenundefined undefinedreturnedundefined; undefinedthrowsundefined undefinedOVERLOADEDundefined undefinedwhenundefined undefinedtooundefined undefinedmuchundefined undefinedisundefined undefinedleftundefined undefinedunreadundefined, undefinedCURSOR_EXPIREDundefined undefinedwhenundefined undefinedwhatundefined undefinedcameundefined undefinedafterundefined undefinedtheundefined undefinedcursorundefined undefinedisundefined
   * undefinednoundefined undefinedlongerundefined undefinedkeptundefined, undefinedBAD_USER_INPUTundefined undefinedforundefined undefinedaundefined undefinedcursorundefined undefinedthatundefined undefinedisundefined undefinednoneundefined.
   */
  async subscribe({
    deviceKeys = null,
    audience,
    accepts,
    after,
    turns = ALWAYS,
    party = NOBODY,
  }: FeedSubscription): Promise<LiveQueue<RecordedEvent>> {
    // undefinedWhatundefined undefinedisundefined undefinedrecordedundefined undefinedfromundefined undefinedthisundefined undefinedmomentundefined undefinedonundefined: undefinedwhereundefined undefinedtheundefined undefinedorderundefined undefinedofundefined undefinedcommitsundefined undefinedstoodundefined undefinedaundefined undefinedlittleundefined undefinedearlierundefined undefinedisundefined undefinedknownundefined undefinedwithoutundefined undefinedwaitingundefined.
    const isNew = after === undefined;
    const subscribedAt = earliestNow(this.#deps);
    const begin = async (cursor: FeedCursor): Promise<LiveQueue<RecordedEvent>> => {
      const follower = new LiveFollower({
        cursor,
        notBefore: isNew ? subscribedAt : -Infinity,
        deviceKeys,
        audience,
        accepts,
        // undefinedThoseundefined undefinedwhoundefined undefinedcomeundefined undefinedatundefined undefinedonceundefined undefinedreadundefined undefinedtheundefined undefinedsameundefined undefinedpagesundefined.
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
      // undefinedSoundefined undefinedthatundefined undefinedaundefined undefinedcursorundefined undefinedthatundefined undefinedhasundefined undefinedexpiredundefined undefinedisundefined undefinedtoldundefined undefinedatundefined undefinedonceundefined.
      await follower.begin(isNew);
      return follower;
    };
    if (!isNew) return begin(decodeCursor(after));
    const known = await this.#known();
    try {
      return await begin({ after: known, between: null });
    } catch (error) {
      if (!isExpiry(error)) throw error;
      // undefinedWhatundefined undefinedwasundefined undefinedknownundefined undefinedisundefined undefinedofundefined undefinedbeforeundefined undefinedaundefined undefinedfailoverundefined, undefinedandundefined undefinednothingundefined undefinedwasundefined undefinedrecordedundefined undefinedsinceundefined.
      if (this.#lastKnown === known) this.#lastKnown = null;
      return begin({ after: await this.#deps.store.position(), between: null });
    }
  }

  /** undefinedEndsundefined undefinedlookingundefined undefinedwhereundefined undefinedtheundefined undefinedorderundefined undefinedofundefined undefinedcommitsundefined undefinedstandsundefined. */
  stop(): void {
    clearInterval(this.#looking);
  }

  /** undefinedAundefined undefinedpositionundefined undefinedthatundefined undefinedisundefined undefinedatundefined undefinedmostundefined undefinedaboutundefined undefinedaundefined undefinedsecondundefined undefinedoldundefined. */
  #known(): string | Promise<string> {
    return this.#position ?? this.#lastKnown ?? this.#deps.store.position();
  }

  async #keepKnown(): Promise<void> {
    if (this.#position !== null || !(this.#isDirty || this.#deps.cluster.shared || this.#lastKnown === null)) return;
    this.#isDirty = false;
    // undefinedWhoeverundefined undefinedsubscribesundefined undefinedmeanwhileundefined, undefinedorundefined undefinedwhileundefined undefinedtheundefined undefineddatabaseundefined undefinedisundefined undefinedawayundefined, undefinedasksundefined undefinedforundefined undefineditundefined.
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
    // undefinedOfundefined undefinednobodyundefined'undefinedsundefined undefinedshareundefined, undefinedwhoeverundefined undefineditundefined undefinedwasundefined undefinedthatundefined undefinedcameundefined undefinedfirstundefined.
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

  /** undefinedUntilundefined undefinednobodyundefined undefinedfollowsundefined undefinedanyundefined undefinedmoreundefined. */
  async #run(): Promise<void> {
    while (this.#followers.size > 0 || this.#joining.size > 0) {
      this.#awake = false;
      const began = performance.now();
      try {
        // undefinedWhoundefined undefinedhasundefined undefinedcaughtundefined undefinedupundefined undefinedbeforeundefined undefinedthisundefined undefinedlookundefined: undefinedwhatundefined undefinedothersundefined undefinedreadundefined undefinedbyundefined undefinedthemselvesundefined undefinedmeanwhileundefined undefinedmayundefined undefinedlieundefined undefinedbeyondundefined undefineditundefined. undefinedOneundefined undefinedthatundefined undefinedgoesundefined undefinedonundefined
        // undefinedwhereundefined undefineditundefined undefinedhasundefined undefinedfailedundefined undefinedisundefined undefinedolderundefined undefinedthanundefined undefinedallundefined undefinedwhoundefined undefinedhaveundefined undefinedcomeundefined undefinedsinceundefined.
        const goesOn = this.#begun !== null;
        const ready = goesOn ? [] : [...this.#joining];
        const found = await this.#handOut();
        // undefinedItsundefined undefinedendundefined undefinedisundefined undefinedwhereundefined undefineditundefined undefinedwasundefined: undefinedwhatundefined undefinedcameundefined undefinedsinceundefined undefinedliesundefined undefinedbehindundefined undefinedthatundefined.
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
        // undefinedWhatundefined undefinedwasundefined undefinedtoundefined undefinedbeundefined undefinedhandedundefined undefinedoutundefined undefinedstillundefined undefinedisundefined, undefinedthoughundefined undefinednobodyundefined undefinedmayundefined undefinedrecordundefined undefinedanythingundefined undefinedforundefined undefinedhoursundefined.
        this.#awake = true;
      }
      if (!this.#awake && !this.#isTakingIn) await this.#sleep();
    }
    this.#lastKnown = this.#position;
    this.#forgetPosition();
    // undefinedAllundefined undefinedofundefined undefinedthemundefined undefinedareundefined undefinedgoneundefined.
    this.#entering = new RoundRobinQueue();
  }

  /** undefinedWhatundefined undefinedwasundefined undefinedcommittedundefined undefinedsinceundefined undefinedtheundefined undefinedlastundefined undefinedlookundefined, undefinedtoundefined undefinedallundefined undefinedwhoundefined undefinedfollowundefined: undefinedsoundefined undefinedmanyundefined undefinedreadingsundefined. */
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
   * undefinedThoseundefined undefinedwhoundefined undefinedhaveundefined undefinedcaughtundefined undefinedupundefined undefinedfollowundefined undefinedfromundefined undefinedhereundefined undefinedonundefined; undefinedsomeundefined undefinedofundefined undefinedthemundefined, undefinedofundefined undefinedeachundefined undefinedtokenundefined undefinedinundefined undefineditsundefined undefinedturnundefined, undefinedareundefined undefinedtoldundefined undefinedwhatundefined undefinedliesundefined undefinedbeforeundefined undefinedthatundefined,
   * undefinedofundefined undefinedwhichundefined undefinedthereundefined undefinedisundefined undefinednoundefined undefinedmoreundefined undefinedtheundefined undefinedlongerundefined undefinedtheundefined undefinedothersundefined undefinedwaitundefined undefinedforundefined undefineditundefined. undefinedEachundefined undefinedmayundefined undefinednameundefined undefinedaundefined undefinedthousandundefined undefineddevicesundefined.
   */
  async #takeIn(ready: readonly Follower[]): Promise<void> {
    const slices = new Slices(NOBODY);
    for (const follower of ready) {
      if (slices.isOver) await slices.next();
      this.#joining.delete(follower);
      // undefinedGoneundefined undefinedmeanwhileundefined.
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
        // undefinedOneundefined undefinedreaderundefined, undefinedonceundefined.
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

import type { Purge } from '../domain/ports/store.ts';
import type { StoreLog } from './store-options.ts';

/** A purge that is written down and not yet done. */
export interface PurgeRow extends Purge {
  id: number;
  /**
   * The device that gets the values first; null: none. Values committed after the hand-over stay, to be handed over as
   * well; without a field there are no values to hand over, nor to forget.
   */
  intoDeviceKey: number | null;
  /** The field of that device that gets them; null or left out: the same. */
  intoFieldKey?: number | null;
}

interface PurgerDeps {
  /** Lists purges behind that id, the oldest first: those that hand over, or the rest. */
  list(handsOver: boolean, after: number, limit: number): Promise<PurgeRow[]>;
  /** The largest id of a purge that is written down. */
  last(): Promise<number>;
  /** Resolves when the receipts handed over so far are stored: they may be of a device that is to be forgotten. */
  settled(): Promise<void>;
  /** Writes all values of the field to `intoDeviceKey` as well; false: it was stopped before the end. */
  handOver(purge: PurgeRow, isStopped: () => boolean): Promise<boolean>;
  /** Forgets that the device was ever heard: a later commit says so anew, and is found by that. */
  forgetHeard(deviceKey: number): Promise<unknown>;
  /** The current position in the order of commits. */
  position(): Promise<string>;
  /**
   * Removes all values of the device (or of one field of it), slice by slice, but those committed after the position
   * (null: those too); false: it was stopped before the end.
   */
  forget(purge: PurgeRow, upTo: string | null): Promise<boolean>;
  /** Strikes it off. */
  end(id: number): Promise<unknown>;
  log: StoreLog | undefined;
}

const A_PAGE = 100;
/** Purges per page that nothing waits for, beside others: there may be no end of them. */
const A_FEW = 10;
const [FIRST_RETRY_MS, LONGEST_RETRY_MS] = [1_000, 30_000];
/** Maximum failed purges logged per pass: where nothing can be written, all fail. */
const MOST_TOLD = 10;
/** Milliseconds between looks for purges that another node has begun, or only written down, before it ended. */
const LOOK_EVERY_MS = 30_000;

/**
 * Works off the table `purge` in the background. Several nodes may do the same one at once, as removing twice does no
 * harm. One that fails while the database answers, as where a chunk cannot be read, is left for later, and so are
 * others of its devices.
 */
export class Purger {
  readonly #deps: PurgerDeps;
  #running: Promise<void> | null = null;
  #again = false;
  /** Waits for the end of a pass that has not begun yet. */
  readonly #waiting: (() => void)[] = [];
  /** Devices for which one failed: left out until all are tried again. */
  readonly #failed = new Set<number>();
  #triesAll = true;
  #stopped = false;
  readonly #looks: RepeatedLooks;

  constructor(deps: PurgerDeps, everyMs: number = LOOK_EVERY_MS) {
    this.#deps = deps;
    this.#looks = new RepeatedLooks(() => this.#startAll(), everyMs);
  }

  /** Begins in the background. */
  start(): void {
    if (this.#stopped) return;
    this.#again = true;
    this.#running ??= this.#run();
  }

  /** … with those, too, that have failed. */
  #startAll(): void {
    this.#triesAll = true;
    this.start();
  }

  /** Resolves when the purges written down by now are done, or left for a later try. */
  settle(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.start();
    });
  }

  /** Resolves after the slice under way; the next start goes on with the rest. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#looks.stop();
    await this.#running;
  }

  /** false: it was stopped before the end. */
  async #workOff(purge: PurgeRow): Promise<boolean> {
    const { position, handOver, forget } = this.#deps;
    if (purge.intoDeviceKey === null) return forget(purge, null);
    if (purge.fieldKey === null) return true;
    // Values that another node commits during the hand-over are not forgotten with it.
    const before = await position();
    return (await handOver(purge, () => this.#stopped)) && forget(purge, before);
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        const waiting = this.#waiting.length;
        if ((await this.#pass()) > 0) this.#again = true;
        this.#tell(waiting);
      }
      if (this.#failed.size > 0) this.#looks.sooner();
      else this.#looks.succeeded();
    } catch (error) {
      if (!this.#stopped) this.#deps.log?.warn({ err: error }, 'purging failed and will be tried again');
      this.#looks.sooner();
    }
    // At once: a later start finds none running that would not look again.
    this.#running = null;
    this.#tell(this.#waiting.length);
  }

  #tell(count: number): void {
    for (const tell of this.#waiting.splice(0, count)) tell();
  }

  /** Tries once all purges written down by now, but of devices for which one failed; returns the number done. */
  async #pass(): Promise<number> {
    const { list, last, settled } = this.#deps;
    // Amid a pass, one behind those that failed would come before them.
    if (this.#triesAll) this.#failed.clear();
    this.#triesAll = false;
    let [ended, told] = [0, 0];
    let [afterHandOvers, afterOthers] = [0, 0];
    const upTo = await last();
    for (;;) {
      // Hand-overs are waited for, and there may be any number of others that are not. No device gets values once it is
      // written down to be forgotten, so that hand-overs may come before that; but a device with something to hand over
      // is not forgotten before.
      const handOvers = await list(true, afterHandOvers, A_PAGE);
      const [next] = handOvers;
      const others = await list(false, afterOthers, next === undefined ? A_PAGE : A_FEW);
      const purges = [...handOvers, ...others.filter(({ id }) => next === undefined || id < next.id)];
      // The next pass begins with later ones, of which there may be no end.
      if (purges.every(({ id }) => id > upTo)) return ended;
      for (const { id, intoDeviceKey } of purges)
        if (intoDeviceKey === null) afterOthers = id;
        else afterHandOvers = id;
      await settled();
      for (const purge of purges) {
        if (this.#stopped) return ended;
        const devices = [purge.deviceKey, purge.intoDeviceKey].filter((key) => key !== null);
        // A later hand-over may depend on one that has failed.
        const isLeftOut = devices.some((key) => this.#failed.has(key));
        if (!isLeftOut && (await this.#tryOne(purge, told < MOST_TOLD))) {
          ended += 1;
          continue;
        }
        if (!isLeftOut) told += 1;
        for (const key of devices) this.#failed.add(key);
      }
    }
  }

  /** Whether it came to its end. Rejects where it is not the purge that fails, but the database. */
  async #tryOne(purge: PurgeRow, isTold: boolean): Promise<boolean> {
    const { forgetHeard, position, end, log } = this.#deps;
    try {
      if (purge.fieldKey === null) await forgetHeard(purge.deviceKey);
      if (!(await this.#workOff(purge))) return false;
      await end(purge.id);
      return true;
    } catch (err) {
      await position();
      if (isTold && !this.#stopped) log?.warn({ err, ...purge }, 'a purge failed and will be tried again');
      return false;
    }
  }
}

/** Looks again and again; after failures sooner, each time after twice as long. */
class RepeatedLooks {
  readonly #look: () => void;
  readonly #timer: NodeJS.Timeout;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isOver = false;

  constructor(look: () => void, everyMs: number) {
    this.#look = look;
    this.#timer = setInterval(look, everyMs).unref();
  }

  sooner(): void {
    if (this.#isOver || this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#look();
    }, this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
  }

  succeeded(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  stop(): void {
    this.#isOver = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
  }
}

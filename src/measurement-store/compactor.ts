import type { Piece } from '../domain/ports/store.ts';
import { besideRecording } from './beside-recording.ts';
import { compaction, type Edit } from './chunks/edit.ts';
import type { EditManner } from './run-edit.ts';
import type { StoreLog } from './store-log.ts';

/** Which devices are due for compaction, page by page. */
export interface DueQuery {
  /** Devices with larger keys, in order. */
  after: number;
  /** Readings committed before then are old; before `overdueBefore`, very old. */
  storedBefore: number;
  overdueBefore: number;
  /** A device is due with so many old readings, or one very old one. */
  atLeast: number;
  limit: number;
}

/** Binds after, storedBefore, atLeast, overdueBefore, limit; `placeholder` is the database's for its nth value. */
export function dueSelect(placeholder: (n: number) => string): string {
  const [after, storedBefore, atLeast, overdueBefore, limit] = [1, 2, 3, 4, 5].map(placeholder);
  return `SELECT device_key FROM reading WHERE device_key > ${after} AND stored_at < ${storedBefore}
          GROUP BY device_key HAVING count(*) >= ${atLeast} OR min(abs(stored_at)) < ${overdueBefore}
          ORDER BY device_key LIMIT ${limit}`;
}

interface CompactorDeps {
  due(query: DueQuery): Promise<number[]>;
  /** Does at most so many slices of it; returns what is left, null: nothing, or somebody else is at it. */
  compact(deviceKey: number, edit: Edit, manner: Required<EditManner>): Promise<Edit | null>;
  /** How many flushes were begun so far on this node. */
  flushes: () => number;
  /** How long readings stay readings, in milliseconds: those who follow live values may resume so far back. */
  keptMs: number;
  everyMs: number;
  now: () => number;
  log: StoreLog | undefined;
}

const DEVICES_A_PAGE = 200;
/** Each time costs a chunk written anew, so it should bring something; but reading has to look through readings. */
const READINGS_WORTH_IT = 240;
const OVERDUE_MS = 6 * 3_600_000;
/** Looking for what is due reads the keys of all readings: where that takes long it is done less often. */
const REST = 9;

/** A device that fails holds up no other; if so many fail one after the other, it is not for the devices. */
const MAX_FAILURES = 5;

/** Nor does one that has much: with so many slices (a second of the longest texts) it is the turn of the next. */
const SLICES_A_TURN = 20;
/** So many of them are gone on with; more are met again when it is looked for what is due. */
const MAX_UNFINISHED = 200;

/**
 * Goes over all devices once in a while and moves old readings into chunks, one device after the other. Those that have
 * more than a turn takes go on after the others, in turns, until it is time to look for what is due again.
 */
export class Compactor {
  readonly #deps: CompactorDeps;
  /** Values that came late each write a chunk of a thousand anew. */
  readonly #slice: Piece;
  readonly #timer: NodeJS.Timeout;
  /** What is left of devices that have had their turn, the one whose turn is next first. */
  readonly #unfinished = new Map<number, Edit>();
  #running: Promise<void> | null = null;
  #stopped = false;
  #lookedMs = 0;
  #restsUntil = 0;
  /** From then on it does not rest after slices: so that it is not slower than what comes in. */
  #hurriesFrom = 0;
  #failures = 0;
  /** The device behind which the next round begins: the last one that was tried, if that was given up. */
  #behind = -1;

  constructor(deps: CompactorDeps) {
    this.#deps = deps;
    this.#slice = besideRecording(deps.flushes, () => performance.now() >= this.#hurriesFrom);
    this.#timer = setInterval(() => void this.#start(), deps.everyMs).unref();
  }

  /** Resolves after the slice under way; what is left waits for the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** Goes over all devices now, unless it is at it or has just been. Never waits. */
  start(): void {
    void this.#start();
  }

  async #start(): Promise<void> {
    if (this.#stopped || this.#running !== null || performance.now() < this.#restsUntil) return;
    this.#running = this.#run();
    await this.#running;
    this.#running = null;
  }

  /** Round after round for as long as there is something left. */
  async #run(): Promise<void> {
    do {
      const nextAt = performance.now() + this.#deps.everyMs;
      this.#hurriesFrom = this.#unfinished.size > 0 ? 0 : nextAt;
      this.#lookedMs = 0;
      this.#failures = 0;
      this.#unfinished.clear();
      await this.#goOverAll();
      this.#restsUntil = performance.now() + REST * this.#lookedMs;
      await this.#goOn(Math.max(nextAt, this.#restsUntil));
    } while (this.#unfinished.size > 0 && this.#isGoing());
  }

  /** A turn for each device that is due. */
  async #goOverAll(): Promise<void> {
    const { due, keptMs, now, log } = this.#deps;
    const storedBefore = now() - keptMs;
    const query = { storedBefore, overdueBefore: storedBefore - OVERDUE_MS, atLeast: READINGS_WORTH_IT };
    let after = this.#behind;
    this.#behind = -1;
    while (this.#isGoing()) {
      try {
        const from = performance.now();
        const devices = await due({ ...query, after, limit: DEVICES_A_PAGE });
        this.#lookedMs += performance.now() - from;
        for (after of devices) {
          await this.#turn(after, compaction(storedBefore));
          if (this.#failures === MAX_FAILURES) this.#behind = after;
          if (!this.#isGoing()) return;
        }
        if (devices.length < DEVICES_A_PAGE) return;
      } catch (error) {
        if (!this.#stopped)
          log?.warn({ err: error }, 'looking for what is to be compacted failed and will be tried again');
        return;
      }
    }
  }

  /** Turn after turn for those that are not finished; who is not when its turn is over stands last in the map again. */
  async #goOn(until: number): Promise<void> {
    for (const [deviceKey, edit] of this.#unfinished) {
      if (!this.#isGoing() || performance.now() >= until) return;
      this.#unfinished.delete(deviceKey);
      await this.#turn(deviceKey, edit);
    }
  }

  #isGoing(): boolean {
    return !this.#stopped && this.#failures < MAX_FAILURES;
  }

  async #turn(deviceKey: number, edit: Edit): Promise<void> {
    try {
      const left = await this.#deps.compact(deviceKey, edit, { slices: SLICES_A_TURN, piece: this.#slice });
      if (left !== null && this.#unfinished.size < MAX_UNFINISHED) this.#unfinished.set(deviceKey, left);
      this.#failures = 0;
    } catch (err) {
      this.#failures++;
      if (!this.#stopped)
        this.#deps.log?.warn({ err, deviceKey }, 'compacting a device failed and will be tried again');
    }
  }
}

import type { Piece } from '../domain/ports/store.ts';
import { besideRecording } from './beside-recording.ts';
import { compaction, type Edit } from './chunks/edit.ts';
import type { EditManner } from './run-edit.ts';
import type { StoreLog } from './store-options.ts';

/** Selects devices that are due for compaction, page by page. */
export interface DueQuery {
  /** Devices with larger keys, in order. */
  after: number;
  /** Readings committed before then are old; before `overdueBefore`, very old. */
  storedBefore: number;
  overdueBefore: number;
  /** Old readings, or one very old one, with which a device is due. */
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
  /** Does at most `manner.slices` of it; returns the rest, null: nothing, or another is at it. */
  compact(deviceKey: number, edit: Edit, manner: Required<EditManner>): Promise<Edit | null>;
  /** Number of flushes begun on this node until now. */
  flushes: () => number;
  /** Milliseconds for which readings stay readings: followers of live values may resume that far back. */
  keptMs: number;
  everyMs: number;
  now: () => number;
  log: StoreLog | undefined;
}

const DEVICES_A_PAGE = 200;
/** Old readings with which a device is due: compaction writes a chunk anew, but reading looks through readings. */
const READINGS_WORTH_IT = 240;
const OVERDUE_MS = 6 * 3_600_000;
/** Factor of the rest over the time of the last look, which reads the keys of all readings. */
const REST = 9;

/** Maximum failures in a row: a single device holds up no other, but then the database is at fault. */
const MAX_FAILURES = 5;

/** Maximum slices per device and turn (a second of the longest texts). */
const SLICES_A_TURN = 20;
/** Maximum unfinished devices; more are met again in the next look. */
const MAX_UNFINISHED = 200;

/**
 * Goes over all devices once in a while and moves old readings into chunks, one device after the other. Those that have
 * more than a turn takes go on after the others, in turns, until the next look for due ones.
 */
export class Compactor {
  readonly #deps: CompactorDeps;
  /** Values that came late each write a chunk of a thousand anew. */
  readonly #slice: Piece;
  /** null: it was stopped. */
  #timer: NodeJS.Timeout | null;
  /** The rest of devices that have had their turn, the next one first. */
  readonly #unfinished = new Map<number, Edit>();
  #running: Promise<void> | null = null;
  #restsUntil = 0;
  /** `hurriesFrom`: time from which this round does not rest after slices, so as not to fall behind what comes in. */
  #round = { hurriesFrom: 0, failures: 0 };
  /** The device behind which the next round begins: the last one that was tried, if that was given up. */
  #behind = -1;

  constructor(deps: CompactorDeps) {
    this.#deps = deps;
    this.#slice = besideRecording(deps.flushes, () => performance.now() >= this.#round.hurriesFrom);
    this.#timer = setInterval(() => void this.#start(), deps.everyMs).unref();
  }

  /** Resolves after the slice under way; what is left waits for the next start. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#running;
  }

  /** Goes over all devices now, unless it is at it or has just been. Never waits. */
  start(): void {
    void this.#start();
  }

  async #start(): Promise<void> {
    if (this.#timer === null || this.#running !== null || performance.now() < this.#restsUntil) return;
    this.#running = this.#run();
    await this.#running;
    this.#running = null;
  }

  /** Round after round for as long as there is something left. */
  async #run(): Promise<void> {
    do {
      const nextAt = performance.now() + this.#deps.everyMs;
      this.#round = { hurriesFrom: this.#unfinished.size > 0 ? 0 : nextAt, failures: 0 };
      this.#unfinished.clear();
      const lookedMs = await this.#goOverAll();
      this.#restsUntil = performance.now() + REST * lookedMs;
      await this.#goOn(Math.max(nextAt, this.#restsUntil));
    } while (this.#unfinished.size > 0 && this.#isGoing());
  }

  /** A turn for each device that is due; resolves with the milliseconds that looking for them took. */
  async #goOverAll(): Promise<number> {
    const { due, keptMs, now, log } = this.#deps;
    const storedBefore = now() - keptMs;
    const query = { storedBefore, overdueBefore: storedBefore - OVERDUE_MS, atLeast: READINGS_WORTH_IT };
    let [after, lookedMs] = [this.#behind, 0];
    this.#behind = -1;
    while (this.#isGoing()) {
      try {
        const from = performance.now();
        const devices = await due({ ...query, after, limit: DEVICES_A_PAGE });
        lookedMs += performance.now() - from;
        for (after of devices) {
          await this.#turn(after, compaction(storedBefore));
          if (this.#round.failures === MAX_FAILURES) this.#behind = after;
          if (!this.#isGoing()) return lookedMs;
        }
        if (devices.length < DEVICES_A_PAGE) return lookedMs;
      } catch (error) {
        if (this.#timer !== null)
          log?.warn({ err: error }, 'looking for what is to be compacted failed and will be tried again');
        return lookedMs;
      }
    }
    return lookedMs;
  }

  /** Gives turn after turn to unfinished devices; one that is not done after its turn goes to the end of the map. */
  async #goOn(until: number): Promise<void> {
    for (const [deviceKey, edit] of this.#unfinished) {
      if (!this.#isGoing() || performance.now() >= until) return;
      this.#unfinished.delete(deviceKey);
      await this.#turn(deviceKey, edit);
    }
  }

  #isGoing(): boolean {
    return this.#timer !== null && this.#round.failures < MAX_FAILURES;
  }

  async #turn(deviceKey: number, edit: Edit): Promise<void> {
    try {
      const left = await this.#deps.compact(deviceKey, edit, { slices: SLICES_A_TURN, piece: this.#slice });
      if (left !== null && this.#unfinished.size < MAX_UNFINISHED) this.#unfinished.set(deviceKey, left);
      this.#round.failures = 0;
    } catch (err) {
      this.#round.failures++;
      if (this.#timer !== null)
        this.#deps.log?.warn({ err, deviceKey }, 'compacting a device failed and will be tried again');
    }
  }
}

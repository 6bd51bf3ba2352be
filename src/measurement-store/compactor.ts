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
  /** Moves the device's readings that were committed before then; false: somebody else is at it. */
  compact(deviceKey: number, storedBefore: number): Promise<boolean>;
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

/** Goes over all devices once in a while and moves old readings into chunks, one device after the other. */
export class Compactor {
  readonly #deps: CompactorDeps;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | null = null;
  #stopped = false;
  #lookedMs = 0;
  #restsUntil = 0;
  /** The device behind which the next round begins: the last one that was tried, if that was given up. */
  #behind = -1;

  constructor(deps: CompactorDeps) {
    this.#deps = deps;
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
    this.#lookedMs = 0;
    this.#running = this.#run();
    await this.#running;
    this.#running = null;
    this.#restsUntil = performance.now() + REST * this.#lookedMs;
  }

  async #run(): Promise<void> {
    const { due, keptMs, now, log } = this.#deps;
    const storedBefore = now() - keptMs;
    const query = { storedBefore, overdueBefore: storedBefore - OVERDUE_MS, atLeast: READINGS_WORTH_IT };
    let after = this.#behind;
    this.#behind = -1;
    let failures = 0;
    while (!this.#stopped) {
      try {
        const from = performance.now();
        const devices = await due({ ...query, after, limit: DEVICES_A_PAGE });
        this.#lookedMs += performance.now() - from;
        for (after of devices) {
          if (this.#stopped) return;
          if (await this.#compact(after, storedBefore)) failures = 0;
          else if (++failures === MAX_FAILURES) {
            this.#behind = after;
            return;
          }
        }
        if (devices.length < DEVICES_A_PAGE) return;
      } catch (error) {
        if (!this.#stopped)
          log?.warn({ err: error }, 'looking for what is to be compacted failed and will be tried again');
        return;
      }
    }
  }

  /** false: it failed. */
  async #compact(deviceKey: number, storedBefore: number): Promise<boolean> {
    try {
      await this.#deps.compact(deviceKey, storedBefore);
      return true;
    } catch (err) {
      if (!this.#stopped)
        this.#deps.log?.warn({ err, deviceKey }, 'compacting a device failed and will be tried again');
      return false;
    }
  }
}

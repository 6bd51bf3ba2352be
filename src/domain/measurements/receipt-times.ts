import { lruCache } from '../../scheduling/lru-cache.ts';
import { AppError } from '../../errors.ts';

/** Devices whose last time is remembered; beyond that those are forgotten whose time has passed. */
const MAX_DEVICES = 100_000;
/** What has not passed is kept, up to so many times as many: then no other device gets ahead of the clock. */
const TIMES_FULL = 5;
/** While they are too many, those whose time has passed are looked for so often, or when there are twice as many. */
const FORGET_EVERY_MS = 60_000;
/** … and so many in one piece. */
const LOOKED_AT_AT_ONCE = 5_000;
/** Further ahead than this is no burst: the clock was put back. */
export const MAX_AHEAD_MS = 3_600_000;
/** A device that got times so far ahead gets none until the clock has followed: it would begin anew, with the same ones. */
const MAX_BURST_MS = MAX_AHEAD_MS / 2;
/** So far ahead they are over when a node that ended has started again. */
const NEAR_MS = 250;
/** A mark is so far beyond the last time at least, that few are written; another one is when half of that is left. */
const LEAD_MS = 5_000;
/** … and no further: a node that starts again gives nothing before it, and refuses who would get times too far ahead. */
const MOST_LEAD_MS = 60_000;
const MAX_MARKS = 10_000;

/** By when devices may have got times ahead of the clock: what outlives a node, so that it does not give them again. */
export interface ReceiptMarks {
  /** By device, in ms UTC: what was noted before this node started. */
  readonly known: ReadonlyMap<number, number>;
  /** From now on the device gets times until then. Never waits. */
  note(deviceKey: number, until: number): void;
}

const NO_MARKS: ReceiptMarks = { known: new Map(), note: () => {} };

/** Which milliseconds a node gives: of each `of` the one at place `at`, from 0 on. No two nodes have the same place. */
export interface NodePlace {
  at: number;
  of: number;
}

/**
 * The receipt times that entries without a timestamp get (CONTRACT 3), in ms UTC: strictly increasing for each device on
 * this node, and others than those of the other nodes, so that values which arrive within one millisecond do not
 * overwrite each other.
 */
export class ReceiptTimes {
  readonly #last = new Map<number, number>();
  readonly #most: number;
  /** Devices that are yet to be looked at, for the first time or, as they were too many, for the second. */
  #looking: { at: Iterator<[number, number]>; isSecond: boolean } | null = null;
  /** The last look, and the number of devices with which the next one begins. */
  #looked = { at: 0, nextSize: 0 };
  readonly #place: () => NodePlace;
  /** No time before this is given any more: never beyond what the clock has shown, as it holds for everybody. */
  #floor = 0;
  /** The latest time that was given, and that it was, unless the clock was put back much further than times may lie ahead. */
  readonly #until = { given: 0, now: 0 };
  readonly #marks: NotedMarks;

  constructor(place: () => NodePlace = () => ({ at: 0, of: 1 }), most = MAX_DEVICES, marks: ReceiptMarks = NO_MARKS) {
    this.#place = place;
    this.#most = most;
    this.#marks = new NotedMarks(marks);
    for (const [key, until] of marks.known) {
      this.#last.set(key, until);
      this.#until.given = Math.max(this.#until.given, until);
    }
  }

  /** How many devices are remembered. */
  get size(): number {
    return this.#last.size;
  }

  /**
   * One time for a request that concerns these devices: `now`, as far as this node may give it, or the next one after the
   * last that any of them got. Throws OVERLOADED when that is half an hour ahead of what the clock has shown.
   */
  take(deviceKeys: Iterable<number>, now: number): number {
    const latest = now + MAX_AHEAD_MS;
    this.#until.now = this.#until.now < latest + MAX_AHEAD_MS ? Math.max(now, this.#until.now) : now;
    if (this.#looking !== null || this.#last.size >= this.#most) this.#forget(now);
    const { at, of } = this.#place();
    // How long ago this node might have given one.
    const past = (time: number): number => (time - at + of) % of;
    let time = now - past(now);
    if (this.#floor <= latest) time = Math.max(time, this.#floor);
    for (const key of deviceKeys) {
      const last = this.#last.get(key);
      if (last !== undefined && last >= time && last < latest) time = last + 1;
    }
    time += (of - past(time)) % of;
    // Where the clock was put back everybody is ahead of it, and who is too far begins anew.
    const isFar = time > this.#until.now + NEAR_MS;
    const isTooFar = time > this.#until.now + MAX_BURST_MS || time > latest - of;
    if (isFar && (isTooFar || !this.#hasRoom(deviceKeys)))
      throw new AppError(
        'OVERLOADED',
        'This device sends more requests without timestamps than there are receipt times; send timestamps, or more entries in one request.',
        { details: { retryAfterSeconds: 60 } },
      );
    for (const key of deviceKeys) {
      this.#last.set(key, time);
      if (time > now + NEAR_MS) this.#marks.note(key, time, now);
    }
    this.#until.given = Math.max(this.#until.given, time);
    return time;
  }

  /** By when everything has been received that is there `now`: a burst runs ahead of the clock. */
  latest(now: number): number {
    return this.#until.given < now + MAX_AHEAD_MS ? Math.max(now, this.#until.given) : now;
  }

  #hasRoom(deviceKeys: Iterable<number>): boolean {
    if (this.#last.size < TIMES_FULL * this.#most) return true;
    for (const key of deviceKeys) if (!this.#last.has(key)) return false;
    return true;
  }

  #forget(now: number): void {
    if (this.#looking === null) {
      if (this.#last.size < this.#looked.nextSize && Math.abs(now - this.#looked.at) < FORGET_EVERY_MS) return;
      this.#looking = { at: this.#last.entries(), isSecond: false };
    }
    // A call that came before them may take its time only now: it is given none of theirs.
    this.#floor = Math.max(this.#floor <= now + MAX_AHEAD_MS ? this.#floor : 0, now - this.#place().of + 1);
    for (let left = LOOKED_AT_AT_ONCE; left > 0; left -= 1) {
      const next = this.#looking.at.next();
      if (next.done !== true) {
        const [key, time] = next.value;
        if (time < this.#floor) this.#last.delete(key);
      } else if (this.#looking.isSecond || this.#last.size < this.#most) {
        this.#looking = null;
        this.#looked = { at: now, nextSize: Math.max(this.#most, 2 * this.#last.size) };
        return;
      } else {
        // The clock was put back, or very many came within a moment: they all go on behind it.
        this.#floor = this.#until.now + 1;
        this.#looking = { at: this.#last.entries(), isSecond: true };
      }
    }
  }
}

/** Notes marks far enough ahead of the times that few are needed. */
class NotedMarks {
  readonly #marks: ReceiptMarks;
  readonly #marked = lruCache<number, number>(MAX_MARKS);

  constructor(marks: ReceiptMarks) {
    this.#marks = marks;
  }

  note(key: number, time: number, now: number): void {
    const lead = Math.min(MOST_LEAD_MS, Math.max(LEAD_MS, time - now));
    const marked = this.#marked.get(key) ?? 0;
    // One that lies too far ahead is of a clock that was put back since.
    if (marked >= time + lead / 2 && marked <= now + MAX_AHEAD_MS) return;
    const until = Math.min(time + lead, now + MAX_AHEAD_MS - 1);
    this.#marked.set(key, until);
    this.#marks.note(key, until);
  }
}

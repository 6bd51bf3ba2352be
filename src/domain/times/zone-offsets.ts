import { badInput } from '../../errors.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
/** Step of the search for changes: no zone has changed twice within six days since 1970. */
const STEP = 144 * HOUR;
/**
 * Years with known offsets: measurements begin in 1970, and rules further ahead are guesses. Beyond, the offset stays.
 */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;
/** Years per step: less than a millisecond of work. */
const YEARS_A_STEP = 10;
/** Maximum characters of a zone's name; the longest has 32. */
const MAX_NAME = 64;

/** From `start` (ms UTC) on, until the next one starts, local time is UTC + `offset` (ms). */
export interface OffsetSpan {
  start: number;
  offset: number;
}

/** The offsets of one IANA zone, computed year by year and then cached. */
export class ZoneOffsets {
  /** The canonical name: the 600 zones are written in many ways. */
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #changesByYear = new Map<number, OffsetSpan[]>();

  private constructor(name: string) {
    // The shortest format is the fastest.
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, year: 'numeric', timeZoneName: 'longOffset' });
    this.name = this.#format.resolvedOptions().timeZone;
  }

  /** BAD_USER_INPUT when there is no such zone, naming the `argument`. */
  static of(name: string, argument = 'timeZone'): ZoneOffsets {
    const known = zones.get(name);
    if (known !== undefined) return known;
    try {
      if (name.length > MAX_NAME) throw new RangeError(name);
      const zone = new ZoneOffsets(name);
      const same = zones.get(zone.name);
      if (same !== undefined) return same;
      if (!zone.#isFixed) zones.set(zone.name, zone);
      return zone;
    } catch {
      throw badInput(
        `"${argument}" must be an IANA zone such as "Europe/Berlin" or "UTC", not ${JSON.stringify(name.slice(0, MAX_NAME))}.`,
      );
    }
  }

  /** The spans that cover all of `from` to `to`, the first from -Infinity on. */
  spans(from: number, to: number): OffsetSpan[] {
    if (this.#isFixed) return [{ start: -Infinity, offset: this.#offsetAt(0) }];
    const [first, last] = [yearOf(from), yearOf(to)];
    const spans: OffsetSpan[] = [{ start: -Infinity, offset: this.#offsetAt(startOfYear(first)) }];
    for (let year = first; year <= last; year++) spans.push(...this.#changes(year));
    return spans;
  }

  /** Computes what `spans` needs, some years at each step. */
  *learn(from: number, to: number): Generator<void> {
    if (this.#isFixed) return;
    let learnt = 0;
    for (let year = yearOf(from); year <= yearOf(to); year++) {
      if (this.#changesByYear.has(year)) continue;
      this.#changes(year);
      if (++learnt % YEARS_A_STEP === 0) yield;
    }
  }

  /** True for fixed offsets such as "+05:30": there are thousands of them, with nothing to compute or cache. */
  get #isFixed(): boolean {
    return this.name.startsWith('+') || this.name.startsWith('-');
  }

  #changes(year: number): OffsetSpan[] {
    let changes = this.#changesByYear.get(year);
    if (changes === undefined) {
      changes = this.#findChanges(startOfYear(year), startOfYear(year + 1));
      this.#changesByYear.set(year, changes);
    }
    return changes;
  }

  #findChanges(from: number, to: number): OffsetSpan[] {
    const changes: OffsetSpan[] = [];
    let before = this.#offsetAt(from);
    for (let low = from; low < to;) {
      const high = Math.min(low + STEP, to);
      const after = this.#offsetAt(high);
      if (before !== after) changes.push({ start: this.#changeBetween(low, high, before), offset: after });
      [low, before] = [high, after];
    }
    return changes;
  }

  #changeBetween(from: number, to: number, before: number): number {
    const hour = this.#bisect(from, to, before, HOUR);
    // Nearly all are on the hour.
    return this.#offsetAt(hour - SECOND) === before ? hour : this.#bisect(hour - HOUR, hour, before, SECOND);
  }

  /** Narrows down the change to one unit; both bounds are multiples of it. */
  #bisect(from: number, to: number, before: number, unit: number): number {
    let [low, high] = [from, to];
    while (high - low > unit) {
      const middle = Math.floor((low + high) / 2 / unit) * unit;
      if (this.#offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }

  #offsetAt(time: number): number {
    const [, sign, hours, minutes, seconds] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(this.#format.format(time)) ?? [];
    const size = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0);
    return (sign === '-' ? -1000 : 1000) * size;
  }
}

/** Zones by their names. */
const zones = new Map<string, ZoneOffsets>();

function yearOf(time: number): number {
  const within = Math.min(Math.max(time, startOfYear(FIRST_YEAR)), startOfYear(LAST_YEAR));
  return new Date(within).getUTCFullYear();
}

function startOfYear(year: number): number {
  return Date.UTC(year, 0, 1);
}

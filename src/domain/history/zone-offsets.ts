import { badInput } from '../../errors.ts';

const STEP = 6 * 86_400_000;
/** Nothing is measured before 1970, and rules further ahead than this are guesses: there the offset stays as it is. */
const FIRST_YEAR = 1970;
const LAST_YEAR = 2100;
/** Zones that are kept, the least lately used one goes first. */
const MAX_ZONES = 64;
/** The longest name has 32. */
const MAX_NAME = 64;

/** From `start` (ms UTC) on, until the next one starts, local time is UTC + `offset` (ms). */
export interface OffsetSpan {
  start: number;
  offset: number;
}

/** The offsets of one IANA zone, found out year by year and then remembered. */
export class ZoneOffsets {
  readonly #format: Intl.DateTimeFormat;
  readonly #changesByYear = new Map<number, OffsetSpan[]>();

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** BAD_USER_INPUT when there is no such zone. */
  static of(name: string): ZoneOffsets {
    const known = zones.get(name);
    if (known !== undefined) {
      zones.delete(name);
      zones.set(name, known);
      return known;
    }
    try {
      if (name.length > MAX_NAME) throw new RangeError(name);
      const zone = new ZoneOffsets(name);
      const [oldest] = zones.keys();
      if (zones.size >= MAX_ZONES && oldest !== undefined) zones.delete(oldest);
      zones.set(name, zone);
      return zone;
    } catch {
      throw badInput(
        `"timeZone" must be an IANA zone such as "Europe/Berlin" or "UTC", not ${JSON.stringify(name.slice(0, MAX_NAME))}.`,
      );
    }
  }

  /** The spans that cover all of `from` to `to`, the first from -Infinity on. */
  spans(from: number, to: number): OffsetSpan[] {
    const [first, last] = [yearOf(from), yearOf(to)];
    const spans: OffsetSpan[] = [{ start: -Infinity, offset: this.#offsetAt(startOfYear(first)) }];
    for (let year = first; year <= last; year++) spans.push(...this.#changes(year));
    return spans;
  }

  #changes(year: number): OffsetSpan[] {
    let changes = this.#changesByYear.get(year);
    if (changes === undefined) {
      changes = this.#findChanges(startOfYear(year), startOfYear(year + 1));
      this.#changesByYear.set(year, changes);
    }
    return changes;
  }

  /** No zone has changed twice within six days since 1970. */
  #findChanges(from: number, to: number): OffsetSpan[] {
    const changes: OffsetSpan[] = [];
    for (let low = from; low < to;) {
      const high = Math.min(low + STEP, to);
      const [before, after] = [this.#offsetAt(low), this.#offsetAt(high)];
      if (before !== after) changes.push({ start: this.#changeBetween(low, high, before), offset: after });
      low = high;
    }
    return changes;
  }

  #changeBetween(from: number, to: number, before: number): number {
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
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

const zones = new Map<string, ZoneOffsets>();

function yearOf(time: number): number {
  const year = new Date(time).getUTCFullYear();
  return Math.min(Math.max(Number.isNaN(year) ? LAST_YEAR : year, FIRST_YEAR), LAST_YEAR);
}

function startOfYear(year: number): number {
  return Date.UTC(year, 0, 1);
}

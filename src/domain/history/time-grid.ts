import { type Resolution, UNIT_MS, widthOf } from './resolution.ts';
import { type OffsetSpan, ZoneOffsets } from '../times/zone-offsets.ts';
import { must } from '../../must.ts';

const DAY = UNIT_MS.d;
const HOUR = UNIT_MS.h;
/** 1970-01-01 was a Thursday: three days after a Monday. */
const MONDAY = -3 * DAY;
/** The period of the calendar, 400 years; a `Date` ends in the year 275760, and an edge may lie behind. */
const CYCLE = 146_097 * DAY;
const CYCLE_MONTHS = 4_800;
const YEARS_2000 = 5;

/**
 * Learns the offsets of the zone that `gridEdges` needs, step by step, as a new zone takes a while. BAD_USER_INPUT for
 * an unknown zone.
 */
export function* learnZone(timeZone: string, from: number, to: number): Generator<void> {
  yield* ZoneOffsets.of(timeZone).learn(...spanned(from, to));
}

/** The range with a margin: local time is at most 26 hours away, and an edge behind the end need not be exact. */
function spanned(from: number, to: number): [from: number, to: number] {
  return [from - 2 * DAY, to + 2 * DAY];
}

/**
 * The edges of the buckets of a range: bucket i begins at `edges[i]` and ends before `edges[i + 1]`; the first has `from`
 * in it, the last the end (its own may be off by a change of the clocks far behind `to`). null when there would be more
 * than `most` of them.
 *
 * The grid: seconds and minutes are multiples of their width since 1970-01-01T00:00Z. All others are places on the local
 * calendar, and a bucket begins at the first moment at which the local clock has reached its place: hours are counted
 * from local midnight, days from 1970-01-01, weeks from Mondays (the first of 1970: 5 January), months and years from
 * January of the year 0. So a day of 25 hours has one longer bucket, a missing midnight begins an hour later, a missing
 * day has no bucket. Only hours one by one come twice when the clock is put back by one.
 */
export function gridEdges(
  resolution: Resolution,
  timeZone: string,
  from: number,
  to: number,
  most: number,
): Float64Array | null {
  if (fewestBuckets(resolution, from, to) > most) return null;
  const edges: number[] = [];
  for (const edge of edgesFrom(resolution, timeZone, from, to)) {
    if (edge === edges.at(-1)) continue;
    // Drop earlier edges: the second pass of a repeated hour may lie behind the begin of a later one.
    if (edge <= from) edges.length = 0;
    edges.push(edge);
    if (edge >= to) return Float64Array.from(edges);
    if (edges.length > most) return null;
  }
  return null;
}

/**
 * Approximate number of buckets, never too high, without computing them: clocks that are put back (less than a
 * thousandth of the time, or a day once) and long months make some wider than their nominal width.
 */
function fewestBuckets(resolution: Resolution, from: number, to: number): number {
  const width = widthOf(resolution);
  const { unit } = resolution;
  if (unit === 's' || unit === 'm') return Math.ceil(to / width) - Math.floor(from / width);
  return ((to - from) * 0.999 - 2 * DAY) / width - 2;
}

function edgesFrom(resolution: Resolution, timeZone: string, from: number, to: number): Iterable<number> {
  const { count, unit } = resolution;
  if (unit === 's' || unit === 'm') return multiples(count * UNIT_MS[unit], from);
  const clock = new LocalClock(ZoneOffsets.of(timeZone).spans(...spanned(from, to)));
  return clock.moments(placesFrom(resolution, clock.localTime(from)), unit === 'h' && count === 1);
}

function* multiples(width: number, from: number): Iterable<number> {
  for (let edge = Math.floor(from / width) * width; ; edge += width) yield edge;
}

/** Grid points on the calendar, as if local time were UTC, from the one at or before `local` on. */
function* placesFrom({ count, unit }: Resolution, local: number): Iterable<number> {
  const day = Math.floor(local / DAY) * DAY;
  if (unit === 'h') {
    for (let begin = day; ; begin += DAY)
      for (let hour = 0; hour < 24; hour += count)
        if (begin > day || begin + (hour + count) * HOUR > local) yield begin + hour * HOUR;
  } else if (unit === 'd' || unit === 'w') {
    const width = count * UNIT_MS[unit];
    const origin = unit === 'w' ? MONDAY : 0;
    for (let place = origin + Math.floor((local - origin) / width) * width; ; place += width) yield place;
  } else {
    const width = unit === 'y' ? 12 * count : count;
    for (let place = Math.floor(monthOf(local) / width) * width; ; place += width) yield startOfMonth(place);
  }
}

/** Months since January of the year 0. */
function monthOf(local: number): number {
  const cycles = Math.floor(local / CYCLE);
  const date = new Date(local - cycles * CYCLE);
  return date.getUTCFullYear() * 12 + date.getUTCMonth() + cycles * CYCLE_MONTHS;
}

function startOfMonth(months: number): number {
  const cycles = Math.floor(months / CYCLE_MONTHS);
  return Date.UTC(2000, months - cycles * CYCLE_MONTHS, 1) + (cycles - YEARS_2000) * CYCLE;
}

/** The local clock of a zone. */
class LocalClock {
  readonly #spans: readonly OffsetSpan[];

  constructor(spans: readonly OffsetSpan[]) {
    this.#spans = spans;
  }

  localTime(time: number): number {
    const span = this.#spans.findLast(({ start }) => start <= time);
    return time + (span?.offset ?? 0);
  }

  /**
   * Times at which the clock first reaches each of the ascending points, and again when it is put back (`twice`) before
   * one.
   */
  *moments(places: Iterable<number>, twice: boolean): Iterable<number> {
    const spans = this.#spans;
    let current = 0;
    for (const place of places) {
      while (current + 1 < spans.length && must(spans[current + 1]).start + must(spans[current]).offset <= place) {
        current++;
        const { start, offset } = must(spans[current]);
        const reached = start + must(spans[current - 1]).offset;
        if (!twice) continue;
        for (let again = Math.ceil((start + offset) / HOUR) * HOUR; again < reached; again += HOUR)
          yield again - offset;
      }
      const { start, offset } = must(spans[current]);
      yield Math.max(start, place - offset);
    }
  }
}

import { ZoneOffsets } from './zone-offsets.ts';
import { must } from '../../must.ts';

const EXTENDED =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|UTC|GMT|[+\u2212-]\d\d(?::?\d\d)?)?)?$/i;
/** The basic format, without dashes and colons; a date alone would be a plain number. */
const BASIC = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?\s*(Z|UTC|GMT|[+\u2212-]\d\d(?::?\d\d)?)?$/i;
/** Maximum characters of a time. */
const LONGEST = 64;
const DAY_MS = 86_400_000;
/** The calendar repeats itself after 400 years; `Date.UTC` takes the years 0 to 99 for others. */
const CYCLE = { years: 400, ms: 146_097 * DAY_MS };

/**
 * The moment of an ISO 8601 text in ms UTC; `isZoneless`: it names no zone. `why`: the reason that no such moment
 * exists.
 */
type IsoTime = { ms: number; isZoneless: boolean } | { why: string };

/**
 * Reads an ISO 8601 date, or date and time, extended or basic; null for other texts. Texts without a zone are in
 * `timeZone` (IANA, null: UTC). Digits beyond the millisecond are dropped. A leap second (23:59:60 UTC at the end of a
 * month) is the second after it, 24:00 the next day.
 */
export function readIso(text: string, timeZone: string | null = null): IsoTime | null {
  const match = text.length > LONGEST ? null : (EXTENDED.exec(text.trim()) ?? BASIC.exec(text.trim()));
  if (match === null) return null;
  const [, years, months, days, hours = '00', minutes = '00', seconds = '00', fraction = '', zone] = match;
  const [year, month, day] = [Number(years), Number(months), Number(days)];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (month < 1 || month > 12) return { why: `there is no month ${months}` };
  if (day < 1 || day > daysOf(year, month)) return { why: `${years}-${months} has no day ${days}` };
  const isMidnight = hour === 24 && minute === 0 && second === 0 && milliseconds === 0;
  if (minute > 59 || second > 60 || (hour > 23 && !isMidnight))
    return { why: `there is no time ${hours}:${minutes}:${seconds}` };
  const offset = offsetOf(zone);
  if (offset === null) return { why: `there is no zone ${zone}` };
  const wall = utc(year, month, day) + ((hour * 60 + minute) * 60 + second) * 1_000 + milliseconds;
  const ms = zone === undefined && timeZone !== null ? zonedMs(wall, timeZone) : wall - offset;
  if (second === 60 && !isBeginOfMonth(ms - milliseconds))
    return { why: 'a second 60 is there only as a leap second: at 23:59 UTC, at the end of a month' };
  return { ms, isZoneless: zone === undefined };
}

/** The moment in ms UTC; null for texts that are not ISO 8601 and for moments that do not exist. */
export function isoMs(text: string, timeZone: string | null = null): number | null {
  const read = readIso(text, timeZone);
  return read !== null && 'ms' in read ? read.ms : null;
}

/**
 * The moment in ms UTC at which clocks of the zone show what `wall` shows in UTC. Of two such moments (autumn) the
 * first; for a skipped one (spring) as if the clocks had not been put forward, so that 02:30 is 03:30.
 */
export function zonedMs(wall: number, timeZone: string): number {
  const spans = ZoneOffsets.of(timeZone).spans(wall - DAY_MS, wall + DAY_MS);
  for (const [at, { start, offset }] of spans.entries()) {
    const ms = wall - offset;
    if (ms >= (spans[at + 1]?.start ?? Infinity)) continue;
    // The time is skipped: after the end of the span before, yet not in this one.
    return ms < start ? wall - must(spans[at - 1]).offset : ms;
  }
  return wall;
}

function utc(year: number, month: number, day: number): number {
  return Date.UTC(year + CYCLE.years, month - 1, day) - CYCLE.ms;
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** Offset in ms; null: beyond those of any zone. */
function offsetOf(zone: string | undefined): number | null {
  if (zone === undefined || !/\d/.test(zone)) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', ''))];
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith('+') ? 1 : -1) * (hours * 60 + minutes) * 60_000;
}

function isBeginOfMonth(ms: number): boolean {
  return ms % DAY_MS === 0 && new Date(ms).getUTCDate() === 1;
}

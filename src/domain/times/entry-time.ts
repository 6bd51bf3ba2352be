import { describe } from '../text/describe-value.ts';
import { isoMs, readIso } from './iso-time.ts';
import { EARLIEST_MS, type Likeness, likenessOf, MILLISECONDS_FROM } from './looks-like.ts';

/**
 * The door at which a time arrives: the record endpoint, telemetry in ThingsBoard's shape, a decoder's entries, a line
 * of an import, or GraphQL, which has parsed it.
 */
type TimeDoor = 'record' | 'telemetry' | 'decoder' | 'import' | 'graphql';

/** The door of a request and its latest allowed time. */
export interface TimeBounds {
  door: TimeDoor;
  /** Latest time that is not in the future, in ms UTC. */
  latest: number;
}

/** Reason for rejecting a time, as the sender reads it. */
interface RefusedTime {
  code: 'INVALID_TIMESTAMP' | 'TIMESTAMP_IN_FUTURE';
  message: string;
}

/** Formats that each door accepts, as its messages name them. */
const TAKES: Record<TimeDoor, string> = {
  record: 'Unix seconds (a number or a string of digits)',
  telemetry: 'Unix milliseconds (a number or a string of digits)',
  decoder: 'Unix seconds, an ISO 8601 text such as "2026-01-31T12:00:00Z", or a Date',
  import: 'ISO 8601 such as 2026-01-31T12:00:00Z, or epoch seconds or milliseconds',
  graphql: 'a DateTime',
};

/** Latest time of a Date. */
const LATEST_MS = 8.64e15;
const NUMBER = /^\s*\d+(?:\.\d*)?\s*$/;
/** Year, month and day in this order, and perhaps a time of day, though not as ISO 8601 writes them. */
const UNPADDED = /^\s*(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ]+(\d{1,2}):(\d{1,2})(?::(\d{1,2}))?)?\s*$/i;
const YEAR_LAST = /^\s*\d{1,2}([-/.])\d{1,2}\1\d{2}(?:\d{2})?(?!\d)/;
const DECIMAL_COMMA = /^\s*\d+,\d+\s*$/;
/** Texts that stand for no time. */
const NOTHING = /^(?:now|null|none|undefined|nan)?$/i;

/**
 * The time of an entry in ms UTC, or the reason for rejecting it: THE judgement for every door (docs/times.md).
 * `timeZone` (IANA, null: UTC) applies to texts without a zone. At `graphql`, numbers are the seconds of a DateTime.
 */
export function readTime(time: unknown, timeZone: string | null, bounds: TimeBounds): number | RefusedTime {
  if (typeof time === 'number') return readNumber(time, time, timeZone, bounds);
  if (typeof time !== 'string') return unreadable(time, bounds.door);
  return NUMBER.test(time) ? readNumber(Number(time), time, timeZone, bounds) : readText(time, timeZone, bounds);
}

/** True for an ISO 8601 text without a zone. */
export function isZoneless(time: unknown): boolean {
  const read = typeof time === 'string' ? readIso(time) : null;
  return read !== null && 'ms' in read && read.isZoneless;
}

function readNumber(
  number: number,
  sent: number | string,
  timeZone: string | null,
  { door, latest }: TimeBounds,
): number | RefusedTime {
  const isSeconds = door !== 'telemetry' && (number < MILLISECONDS_FROM || door === 'graphql');
  const ms = Math.round(isSeconds ? number * 1_000 : number);
  const isTaken = isSeconds || door === 'import' || door === 'telemetry';
  if (isTaken && ms >= EARLIEST_MS && ms <= latest) return ms;
  if (!Number.isFinite(number)) return unreadable(sent, door);
  if (door === 'graphql') return outOfBounds(`"${isoText(ms)}"`, ms, '');
  const shown = describe(sent);
  if (number < 0) return invalid(`${shown} is before 1970.`);
  const likeness =
    door === 'telemetry' ? secondsIn(number, latest) : likenessOf(number, String(sent), latest, timeZone);
  if (isTaken && ms < EARLIEST_MS) {
    const isTold = isSeconds || door === 'telemetry' || likeness?.isDate === true;
    const hint = isTold ? hintOf(likeness, door) : '';
    return outOfBounds(`${shown} in Unix ${isSeconds ? 'seconds' : 'milliseconds'}`, ms, hint);
  }
  const isMilliseconds = door === 'telemetry' || likeness?.name === 'milliseconds';
  if (likeness?.isDate !== true && (isSeconds || (isTaken && isMilliseconds)))
    return outOfBounds(shown, ms, isSeconds ? hintOf(likeness, door) : '');
  return invalid(`${shown} looks like ${toldOf(likeness, door)}`);
}

function readText(text: string, timeZone: string | null, bounds: TimeBounds): number | RefusedTime {
  const { door, latest } = bounds;
  const read = readIso(text, timeZone);
  if (read === null) {
    const number = DECIMAL_COMMA.test(text) ? readNumber(Number(text.replace(',', '.')), text, timeZone, bounds) : 0;
    return typeof number === 'number' ? unreadable(text, door) : number;
  }
  if ('why' in read) return invalid(`${describe(text)} is no time: ${read.why}.`);
  const { ms } = read;
  if (door === 'record') return unreadable(text, door, ` That is ${ms / 1_000} in Unix seconds.`);
  if (door === 'telemetry') return unreadable(text, door, ` That is ${ms} in Unix milliseconds.`);
  if (ms < 0) return invalid(`${describe(text)} is before 1970.`);
  const earliest = door === 'import' ? 0 : EARLIEST_MS;
  if (ms >= earliest && ms <= latest) return ms;
  // `new Date(1767225600)` is in January 1970.
  const isDateOfSeconds = ms * 1_000 >= EARLIEST_MS && ms * 1_000 <= latest;
  const hint = ' new Date(…) takes milliseconds: multiply Unix seconds by 1,000.';
  return outOfBounds(describe(text), ms, isDateOfSeconds ? hint : '');
}

/** Rejects a time in a format that no door accepts, with a hint how to write it. */
function unreadable(time: unknown, door: TimeDoor, hint = hintOfText(time, door)): RefusedTime {
  return invalid(`must be ${TAKES[door]}, not ${describe(time)}.${hint}`);
}

function hintOfText(time: unknown, door: TimeDoor): string {
  if (typeof time !== 'string') return '';
  if (NOTHING.test(time.trim())) return door === 'import' ? '' : ' Leave it out for the time of receipt.';
  if (YEAR_LAST.test(time)) return ' Write year, month and day in this order, as ISO 8601 does.';
  const [, year, ...parts] = UNPADDED.exec(time) ?? [];
  const [month, day, hour, minute, second = '00'] = parts.map((part) => part?.padStart(2, '0'));
  const padded = `${year}-${month}-${day}${hour === undefined ? '' : `T${hour}:${minute}:${second}`}`;
  return isoMs(padded) === null ? '' : ` Write it as "${padded}", with its zone.`;
}

function outOfBounds(shown: string, ms: number, hint: string): RefusedTime {
  if (ms < 0) return invalid(`${shown} is before 1970.`);
  const read = shown.includes(isoText(ms)) ? 'is' : `is ${isoText(ms)},`;
  if (ms < EARLIEST_MS) return invalid(`${shown} ${read} before 2000: is the device's clock right?${hint}`);
  const message = `"timestamp" ${shown} ${read} too far ahead of the server's clock; is the device's clock right?${hint}`;
  return { code: 'TIMESTAMP_IN_FUTURE', message };
}

function invalid(what: string): RefusedTime {
  return { code: 'INVALID_TIMESTAMP', message: `"timestamp" ${what}` };
}

function hintOf(likeness: Likeness | null, door: TimeDoor): string {
  return likeness === null ? '' : ` It looks like ${toldOf(likeness, door)}`;
}

/** Unix seconds where milliseconds are expected; null: they would be no plausible time either. */
function secondsIn(number: number, latest: number): Likeness | null {
  const ms = Math.round(number * 1_000);
  return ms >= EARLIEST_MS && ms <= latest ? { name: 'Unix seconds', ms } : null;
}

/** The sentence behind "looks like". */
function toldOf(likeness: Likeness | null, door: TimeDoor): string {
  if (likeness?.ms == null) return `${likeness?.name ?? 'no time'}; send ${TAKES[door]}.`;
  const { name, ms } = likeness;
  if (door === 'telemetry') return `${name}; send Unix milliseconds: ${ms}.`;
  const seconds = door === 'import' ? `"${isoText(ms)}" or ${ms / 1_000}` : `Unix seconds: ${ms / 1_000}`;
  return `${name}; send ${seconds}.`;
}

function isoText(ms: number): string {
  return Math.abs(ms) <= LATEST_MS ? new Date(ms).toISOString() : String(ms);
}

import { isoMs, zonedMs } from './iso-time.ts';

/** Earliest plausible time, in ms UTC: a clock shows an earlier one when it was never set. */
export const EARLIEST_MS = Date.UTC(2000, 0, 1);
/** From here on a number cannot be seconds: they would be after the year 5138. */
export const MILLISECONDS_FROM = 1e11;
const [MICROSECONDS_FROM, NANOSECONDS_FROM] = [1e14, 1e17];
/** Day 0 of spreadsheets, as they count from March 1900 on. */
const SPREADSHEET_EPOCH = Date.UTC(1899, 11, 30);
const NTP_EPOCH = Date.UTC(1900, 0, 1);
const DOTNET_EPOCH = -62_135_596_800_000;
const DAY_MS = 86_400_000;
/** Smallest plausible count of seconds since 2000; a smaller number counts from the start of the device. */
const COUNTED_FROM_2000 = Date.UTC(2010, 0, 1) - EARLIEST_MS;
/** Ten years in seconds. */
const LONGEST_UPTIME = 3.2e8;
/** `yyyymmdd`, with the time of day in two, four or six digits. */
const DIGITS = /^\s*(\d{4})(\d\d)(\d\d)(?:(\d\d)(?:(\d\d)(\d\d)?)?)?\s*$/;

/**
 * Clock or notation that a number may come from, and the moment it then means, in ms UTC; null: none that is plausible.
 */
export interface Likeness {
  name: string;
  ms: number | null;
  /** True for a date written in digits: not an epoch, however late that would be. */
  isDate?: true;
}

/**
 * The likely origin of a number that is not Unix seconds; null: unknown. `text`: as it was sent. Plausible times lie
 * between 2000 and `latest` (ms UTC); calendar notations are in `timeZone` (null: UTC).
 */
export function likenessOf(number: number, text: string, latest: number, timeZone: string | null): Likeness | null {
  const isPlausible = (ms: number): boolean => ms >= EARLIEST_MS && ms <= latest;
  const date = dateIn(text, timeZone);
  if (date !== null) return { name: 'a date written in digits', ms: isPlausible(date) ? date : null, isDate: true };
  const day = SPREADSHEET_EPOCH + Math.round(number * DAY_MS);
  const candidates: [name: string, ms: number][] = [
    ['Unix seconds divided by 1,000', number * 1e6],
    ['a day of a spreadsheet', timeZone === null || !isPlausible(day) ? day : zonedMs(day, timeZone)],
    ['seconds since 2000', number * 1e3 < COUNTED_FROM_2000 ? 0 : EARLIEST_MS + number * 1e3],
    ['seconds since 1900', NTP_EPOCH + number * 1e3],
    ['milliseconds', number],
    ['microseconds', number / 1e3],
    ['nanoseconds', number / 1e6],
    ["ticks of .NET's clock", DOTNET_EPOCH + number / 1e4],
  ];
  const found = candidates.find(([, ms]) => isPlausible(ms));
  if (found !== undefined) return { name: found[0], ms: Math.round(found[1]) };
  const name = nameBySize(number);
  return name === null ? null : { name, ms: null };
}

function nameBySize(number: number): string | null {
  if (number >= NANOSECONDS_FROM) return 'nanoseconds';
  if (number >= MICROSECONDS_FROM) return 'microseconds';
  if (number >= MILLISECONDS_FROM) return 'milliseconds';
  if (number > 0 && number < 24 && !Number.isInteger(number)) return 'a time of day';
  return number > 0 && number < LONGEST_UPTIME ? 'the time since the device started' : null;
}

function dateIn(text: string, timeZone: string | null): number | null {
  const [, year = '', month, day, hour = '00', minute = '00', second = '00'] = DIGITS.exec(text) ?? [];
  const isYear = year >= '1970' && year < '2100';
  return isYear ? isoMs(`${year}-${month}-${day}T${hour}:${minute}:${second}`, timeZone) : null;
}

import { reader } from '../time/reader.ts';
import { t } from '../texts/texts.ts';
import { LOCALE } from '../texts/languages.ts';

const STEPS: [ms: number, unit: string][] = [
  [86_400_000 * 365, 'y'],
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];
const JUST_MS = 10_000;

const DAY_MS = 86_400_000;
/** Units of a time that is left: the smallest distance told in each, and its length. */
const LEFT: [from: number, ms: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [730 * DAY_MS, 365.25 * DAY_MS, 'year'],
  [60 * DAY_MS, 30.44 * DAY_MS, 'month'],
  [2 * DAY_MS, DAY_MS, 'day'],
  [7_200_000, 3_600_000, 'hour'],
  [0, 60_000, 'minute'],
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format of times in the language of this browser, and in the zone and with the clock of the reader. */
export function timeFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const { zone, clock } = reader.get();
  const key = JSON.stringify([options, zone, clock]);
  let format = formats.get(key);
  if (format === undefined) {
    const chosen: Intl.DateTimeFormatOptions = {};
    if (zone !== null) chosen.timeZone = zone;
    if (clock !== 'auto') chosen.hourCycle = clock === '24' ? 'h23' : 'h12';
    format = new Intl.DateTimeFormat(LOCALE, { ...options, ...chosen });
    formats.set(key, format);
  }
  return format;
}

/** Date and time to the second. */
export function dateTimeText(at: Date | number): string {
  return timeFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(at);
}

/** Date and time to the millisecond, for what follows another within a second. */
export function preciseText(at: Date | number): string {
  const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 } as const;
  return timeFormat({ ...day, ...time }).format(at);
}

/** Both ends of a range of time to the minute; what they have in common is said once. */
export function rangeText(from: number, to: number): string {
  return timeFormat({ dateStyle: 'medium', timeStyle: 'short' }).formatRange(from, to);
}

/** The distance from `at` to `now` (milliseconds) in its largest unit: `now`, `25 s ago`, `3 h ago`, `in 2 d`. */
export function agoText(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < JUST_MS) return t('now');
  const step = STEPS.find(([ms]) => distance >= ms);
  const text =
    step === undefined ? `${Math.floor(distance / 1_000)} s` : `${Math.floor(distance / step[0])} ${step[1]}`;
  return at <= now ? t('{text} ago', { text }) : t('in {text}', { text });
}

/** The time left until an end, in words: `in 11 months`, `in 2 days`; `ended` once it is past. */
export function leftText(end: number, now: number): string {
  if (end <= now) return t('ended');
  const left = end - now;
  const [, ms, unit] = LEFT.find(([from]) => left >= from)!;
  return new Intl.RelativeTimeFormat(LOCALE).format(Math.max(1, Math.round(left / ms)), unit);
}

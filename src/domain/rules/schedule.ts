import { badInput } from '../../errors.ts';
import { ZoneOffsets } from '../times/zone-offsets.ts';
import type { Schedule } from './definition.ts';

/** Weekdays as clients write them, Monday first. */
const DAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;
const HOURS = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/;
const MINUTES_A_DAY = 1_440;
const MINUTE_MS = 60_000;
const DAY_MS = MINUTES_A_DAY * MINUTE_MS;
/** Every schedule opens within them: a week, and a day for what a change of the clock leaves out. */
const DAYS_AHEAD = 15;
/** 1970-01-01 was a Thursday. */
const FIRST_WEEKDAY = 3;

/** A schedule as a client sends it. */
export interface GivenSchedule {
  days?: readonly string[] | null | undefined;
  hours?: string | null | undefined;
  timeZone: string;
}

/** The schedule in its normal form; BAD_USER_INPUT naming the path of a mistake. */
export function checkSchedule({ days, hours, timeZone }: GivenSchedule, path: string): Schedule {
  if (days?.length === 0) throw badInput(`${path}.days: name at least one of ${DAYS.join(' ')}, or leave it out.`);
  const numbers = days?.map((day, index) => {
    const number = DAYS.indexOf(day as never);
    if (number < 0)
      throw badInput(
        `${path}.days[${index}]: expected one of ${DAYS.join(' ')}, not ${JSON.stringify(day.slice(0, 20))}.`,
      );
    return number;
  });
  return {
    days: numbers === undefined ? null : [...new Set(numbers)].toSorted((one, other) => one - other),
    hours: hours == null ? null : checkHours(hours, `${path}.hours`),
    timeZone: ZoneOffsets.of(timeZone, `${path}.timeZone`).name,
  };
}

/** The schedule as clients see it. */
export function shownSchedule({ days, hours, timeZone }: Schedule) {
  return {
    days: days?.map((day) => DAYS[day]!) ?? null,
    hours: hours === null ? null : `${clock(hours.from)}-${clock(hours.to)}`,
    timeZone,
  };
}

/** Whether something may be told at that time; the hours after midnight belong to the day on which they began. */
export function isOpen({ days, hours, timeZone }: Schedule, time: number): boolean {
  const span = ZoneOffsets.of(timeZone)
    .spans(time, time)
    .findLast(({ start }) => start <= time)!;
  const local = time + span.offset;
  const minutes = Math.floor((((local % DAY_MS) + DAY_MS) % DAY_MS) / MINUTE_MS);
  const day = (((Math.floor(local / DAY_MS) + FIRST_WEEKDAY) % 7) + 7) % 7;
  const isOn = (weekday: number): boolean => days === null || days.includes(weekday);
  if (hours === null) return isOn(day);
  if (hours.to > hours.from) return isOn(day) && minutes >= hours.from && minutes < hours.to;
  return (isOn(day) && minutes >= hours.from) || (isOn((day + 6) % 7) && minutes < hours.to);
}

/** The next time after `time` at which it opens, or is open again; both in ms UTC. */
export function nextOpening(schedule: Schedule, time: number): number {
  const { hours, timeZone } = schedule;
  const spans = ZoneOffsets.of(timeZone).spans(time, time + DAYS_AHEAD * DAY_MS);
  const candidates = new Set<number>();
  for (const { start, offset } of spans) {
    candidates.add(start);
    const today = Math.floor((time + offset) / DAY_MS);
    for (let day = today; day <= today + DAYS_AHEAD; day += 1)
      candidates.add(day * DAY_MS + (hours?.from ?? 0) * MINUTE_MS - offset);
  }
  const found = [...candidates].toSorted((one, other) => one - other);
  return found.find((at) => at > time && isOpen(schedule, at)) ?? time + DAY_MS;
}

function checkHours(text: string, path: string): { from: number; to: number } {
  const parts = HOURS.exec(text)?.slice(1).map(Number);
  const mistake = (): Error =>
    badInput(
      `${path}: expected hours such as "08:00-18:00" or "22:00-06:00", not ${JSON.stringify(text.slice(0, 20))}.`,
    );
  if (parts === undefined) throw mistake();
  const [hour, minute, endHour, endMinute] = parts as [number, number, number, number];
  const [from, to] = [hour * 60 + minute, endHour * 60 + endMinute];
  if (minute > 59 || endMinute > 59 || from >= MINUTES_A_DAY || to > MINUTES_A_DAY) throw mistake();
  if (from === to) throw badInput(`${path}: "${text}" has no time in it; leave it out for the whole day.`);
  return { from, to };
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

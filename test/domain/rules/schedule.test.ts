import { expect, test } from 'vitest';
import {
  checkSchedule,
  type GivenSchedule,
  isOpen,
  nextOpening,
  shownSchedule,
} from '../../../src/domain/rules/schedule.ts';

const open = (given: GivenSchedule, time: string): boolean =>
  isOpen(checkSchedule(given, 'schedule'), Date.parse(time));

test('hours and days are those of the zone', () => {
  const office = { days: ['MON', 'FRI'], hours: '08:00-18:00', timeZone: 'Europe/Berlin' };
  // 2026-06-01 is a Monday; Berlin is two hours ahead.
  expect(open(office, '2026-06-01T05:59:59Z')).toBe(false);
  expect(open(office, '2026-06-01T06:00:00Z')).toBe(true);
  expect(open(office, '2026-06-01T15:59:59Z')).toBe(true);
  expect(open(office, '2026-06-01T16:00:00Z')).toBe(false);
  expect(open(office, '2026-06-02T10:00:00Z')).toBe(false);
  // In winter it is one hour ahead.
  expect(open(office, '2026-01-05T06:59:59Z')).toBe(false);
  expect(open(office, '2026-01-05T07:00:00Z')).toBe(true);
});

test('hours over midnight belong to the day on which they begin', () => {
  const nights = { days: ['FRI'], hours: '22:00-06:00', timeZone: 'UTC' };
  expect(open(nights, '2026-06-05T05:00:00Z')).toBe(false);
  expect(open(nights, '2026-06-05T22:00:00Z')).toBe(true);
  expect(open(nights, '2026-06-06T05:59:59Z')).toBe(true);
  expect(open(nights, '2026-06-06T06:00:00Z')).toBe(false);
  expect(open(nights, '2026-06-06T23:00:00Z')).toBe(false);
});

test('without days or hours it is always open; it is shown as it was written', () => {
  expect(open({ timeZone: 'UTC' }, '2026-06-06T23:00:00Z')).toBe(true);
  const given = { days: ['SUN', 'MON'], hours: '00:00-24:00', timeZone: 'UTC' };
  expect(shownSchedule(checkSchedule(given, 'x'))).toEqual({ ...given, days: ['MON', 'SUN'] });
  expect(open(given, '2026-06-01T23:59:59Z')).toBe(true);
  expect(open(given, '2026-06-02T00:00:00Z')).toBe(false);
});

test('the next opening is the first moment that is open, in every zone and over changes of the clock', () => {
  const next = (given: GivenSchedule, time: string): string =>
    new Date(nextOpening(checkSchedule(given, 'x'), Date.parse(time))).toISOString();
  const office = { days: ['MON', 'FRI'], hours: '08:00-18:00', timeZone: 'Europe/Berlin' };
  expect(next(office, '2026-06-01T16:00:00Z')).toBe('2026-06-05T06:00:00.000Z');
  expect(next(office, '2026-06-01T05:59:59Z')).toBe('2026-06-01T06:00:00.000Z');
  // The clock goes forward on 29 March 2026: 02:30 is left out, the day begins to be open at 03:00.
  const gap = { days: ['SUN'], hours: '02:30-05:00', timeZone: 'Europe/Berlin' };
  expect(next(gap, '2026-03-28T23:30:00Z')).toBe('2026-03-29T01:00:00.000Z');
  expect(next({ days: ['SUN'], timeZone: 'America/New_York' }, '2026-03-07T12:00:00Z')).toBe('2026-03-08T05:00:00.000Z'); // oxfmt-ignore
  // Only by what the change of the clock leaves out: it opens a week later.
  const never = { days: ['SUN'], hours: '02:10-02:50', timeZone: 'Europe/Berlin' };
  expect(next(never, '2026-03-28T23:30:00Z')).toBe('2026-04-05T00:10:00.000Z');
  const nights = { days: ['FRI'], hours: '22:00-06:00', timeZone: 'UTC' };
  expect(next(nights, '2026-06-05T05:00:00Z')).toBe('2026-06-05T22:00:00.000Z');
});

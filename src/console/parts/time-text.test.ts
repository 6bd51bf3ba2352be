import { afterEach, expect, test } from 'vitest';
import { localTime, readLocalTime, zoneName } from '../time/local-time.ts';
import { reader } from '../time/reader.ts';
import { dateTimeText, leftText, preciseText } from './time-text.ts';

const DAY_MS = 86_400_000;
const NOON = Date.UTC(2026, 10, 29, 12, 5, 6, 70);

afterEach(() => reader.set({ zone: null, clock: 'auto' }));

test('the time left is told in words, in the unit that fits', () => {
  const told: [left: number, text: string][] = [
    [-1, 'ended'],
    [0, 'ended'],
    [1, 'in 1 minute'],
    [119 * 60_000, 'in 119 minutes'],
    [DAY_MS, 'in 24 hours'],
    [2 * DAY_MS, 'in 2 days'],
    [59 * DAY_MS, 'in 59 days'],
    [60 * DAY_MS, 'in 2 months'],
    [337 * DAY_MS, 'in 11 months'],
    [365 * DAY_MS - 1, 'in 12 months'],
    [1_000 * DAY_MS, 'in 3 years'],
  ];
  for (const [left, text] of told) expect(leftText(NOON + left, NOON), String(left)).toBe(text);
});

test('times are those of the reader’s zone, with the reader’s clock', () => {
  reader.set({ zone: 'Europe/Berlin', clock: '24' });
  expect(dateTimeText(NOON)).toMatch(/\b13:05:06\b/);
  expect(preciseText(NOON)).toMatch(/\b13:05:06[.,]070\b/);
  expect(zoneName()).toBe('Europe/Berlin');
  reader.set({ zone: 'America/New_York', clock: '12' });
  expect(dateTimeText(NOON + 6 * 3_600_000)).toMatch(/\b1:05:06\b.*pm/i);
});

test('what is typed as a time is read in the reader’s zone, also where the clock is put forward or back', () => {
  for (const zone of ['Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kolkata']) {
    reader.set({ zone, clock: 'auto' });
    for (let hour = 0; hour < 366 * 24; hour += 1) {
      const at = Date.UTC(2026, 0, 1) + hour * 3_600_000;
      const again = Date.parse(readLocalTime(localTime(at))!);
      // In the hour that comes twice the text is the same for both.
      if (again !== at) expect(localTime(again), `${zone} ${new Date(at).toISOString()}`).toBe(localTime(at));
    }
    expect(readLocalTime('')).toBeNull();
  }
  reader.set({ zone: 'Europe/Berlin', clock: 'auto' });
  expect(localTime(NOON)).toBe('2026-11-29T13:05');
  expect(readLocalTime('2026-07-01T12:00')).toBe('2026-07-01T10:00:00.000Z');
  expect(readLocalTime('2026-07-01T12:00:30')).toBe('2026-07-01T10:00:30.000Z');
});

import { expect, test } from 'vitest';
import { DateTime } from '../../src/graphql/types/date-time.ts';

test.each([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.250+02:00', '2026-01-31T10:00:00.250Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
])('a time with its zone is read, and a date as its begin in UTC: %s', (given, read) => {
  expect(DateTime.parseValue(given)).toBe(Date.parse(read));
});

test.each(['2026-01-31T12:00:00', '2026-01-31 12:00:00', '2026-02-30', '2026-1-31', '31.01.2026', 1_769_860_800, null])(
  'anything else is refused, as it may be meant in another zone: %s',
  (given) => {
    expect(() => DateTime.parseValue(given)).toThrow(/DateTime: expected ISO 8601 text with a time zone.*or a date/);
  },
);

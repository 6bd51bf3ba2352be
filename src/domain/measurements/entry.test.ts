import { describe, expect, test } from 'vitest';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { checkEntry, isRejection } from './entry.ts';

const NOW = 1_767_225_600_000;
const LATEST = NOW + 86_400_000;
const field = { key: 1, identifier: 'T', type: 'FLOAT' } as const;
const product = { fields: new Map([['T', field]]), timeZone: null } as unknown as ProductInfo;

const check = (entry: unknown) => checkEntry(product, entry, 0, NOW, { door: 'record', latest: LATEST });
const timeOf = (timestamp: unknown): unknown => {
  const outcome = check({ field: 'T', value: 1, timestamp });
  return isRejection(outcome) ? outcome.code : outcome.timestamp;
};

describe('the time of an entry', () => {
  test('is rounded to the nearest millisecond', () => {
    expect(timeOf(1_767_225_600.0016)).toBe(NOW + 2);
    expect(timeOf('1767225600.0014')).toBe(NOW + 1);
  });

  test('may be as far ahead as allowed, and not a millisecond further', () => {
    expect(timeOf(LATEST / 1000)).toBe(LATEST);
    expect(timeOf((LATEST + 1) / 1000)).toBe('TIMESTAMP_IN_FUTURE');
  });

  test('looks like milliseconds from 1e11 on', () => {
    expect(timeOf(1e11)).toBe('INVALID_TIMESTAMP');
    expect(timeOf(1e11 - 1)).toBe('TIMESTAMP_IN_FUTURE');
  });
});

test.each([
  [[1], 'not an array'],
  [null, 'not null'],
  [7, 'not a number'],
])('%j is no entry, and the answer says what it is', (entry, said) => {
  expect(check(entry)).toMatchObject({ code: 'INVALID_ENTRY', field: null, message: expect.stringContaining(said) });
});

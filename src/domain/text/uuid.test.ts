import { expect, test } from 'vitest';
import { uuidV7 } from './uuid.ts';

test('a UUIDv7 carries its time, version and variant', () => {
  const id = uuidV7(0x0123456789ab);
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('ids of one and of later milliseconds sort in the order they were made, and differ', () => {
  const times = Array.from({ length: 50_000 }, (_, index) => 1_700_000_000_000 + Math.floor(index / 20_000));
  const ids = times.map((time) => uuidV7(time));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
});

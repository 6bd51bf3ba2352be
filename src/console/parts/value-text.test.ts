import { expect, test } from 'vitest';
import { numberText, roundedWithin } from './value-text.ts';

test('a computed number loses digits, but never leaves its bounds', () => {
  expect(roundedWithin(20.123456)).toBe(20.123);
  expect(roundedWithin(123_456_789_012)).toBe(123_460_000_000);
  // The mean of one value is that value.
  expect(roundedWithin(123_456_789_012, 123_456_789_012, 123_456_789_012)).toBe(123_456_789_012);
  expect(roundedWithin(1.000_004, 1.000_003, 1.000_009)).toBe(1.000_004);
  expect(roundedWithin(0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2)).toBe(0.1 + 0.2);
  for (let at = 1; at < 2_000; at += 1) {
    const [low, high] = [1e6 + at / 1_000, 1e6 + (at + 1) / 1_000];
    const mean = roundedWithin((low + high) / 2, low, high);
    expect(mean >= low && mean <= high, String(mean)).toBe(true);
  }
});

test('large numbers have separators', () => {
  expect(numberText(123_456_789_012)).toBe('123,456,789,012');
});

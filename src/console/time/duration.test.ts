import { expect, test } from 'vitest';
import { durationText, secondsOf, typedDuration } from './duration.ts';

test('seconds are said in their largest units', () => {
  const texts = [0, 1.5, 59, 60, 600, 5_400, 3_600, 7_199.9, 86_400, 90_000].map(durationText);
  expect(texts).toEqual(['0 s', '1.5 s', '59 s', '1 min', '10 min', '1 h 30 min', '1 h', '2 h', '1 d', '1 d 1 h']);
});

test('what is typed is what it was read from', () => {
  for (const seconds of [0, 1, 0.5, 60, 90, 600, 3_600, 5_400, 172_800])
    expect(secondsOf(typedDuration(seconds))).toBe(seconds);
  expect(typedDuration(600)).toEqual({ amount: '10', unit: 'min' });
  expect(secondsOf(typedDuration(null))).toBeNull();
  expect(secondsOf({ amount: 'x', unit: 'h' })).toBeNull();
});

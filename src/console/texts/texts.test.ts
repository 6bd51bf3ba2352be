import { expect, test } from 'vitest';
import { parts, t } from './texts.ts';

test('slots are filled; an element stays one', () => {
  expect(t('{name} is gone.', { name: 'Hall' })).toBe('Hall is gone.');
  expect(parts('{count} of {b}.', { count: 2, b: '<b>' })).toEqual(['', 2, ' of ', '<b>', '.']);
});

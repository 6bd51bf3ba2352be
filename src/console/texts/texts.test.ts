import { expect, test } from 'vitest';
import { counted, countedParts, parts, t } from './texts.ts';

test('slots are filled; an element stays one', () => {
  expect(t('{name} is gone.', { name: 'Hall' })).toBe('Hall is gone.');
  expect(parts('{count} of {b}.', { count: 2, b: '<b>' })).toEqual(['', 2, ' of ', '<b>', '.']);
});

test('things are counted in the singular and the plural', () => {
  const devices = (count: number): string => counted(count, '{count} device', '{count} devices');
  expect([0, 1, 2, 12_000].map(devices)).toEqual(['0 devices', '1 device', '2 devices', '12,000 devices']);
  expect(countedParts(1, 'It is {count} value.', 'They are {count} values.', { count: '<b>' })).toEqual([
    'It is ',
    '<b>',
    ' value.',
  ]);
});

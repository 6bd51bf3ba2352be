import { expect, test } from 'vitest';
import { parseGeolocation } from './geolocation.ts';

test.each([
  ['(-0,-0.0)', '(0,0)'],
  [' ( +1.50 , .25 ) ', '(1.5,0.25)'],
  ['(1e1,-1e-1)', '(10,-0.1)'],
  ['(90,-180)', '(90,-180)'],
  ['(90.1,0)', null],
  ['(0,180.1)', null],
  ['(0;0)', null],
])('%s is stored as %s: one place, one text', (text, stored) => {
  expect(parseGeolocation(text)).toBe(stored);
});

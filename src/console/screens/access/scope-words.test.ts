import { expect, test } from 'vitest';
import { tokenWords } from './scope-words.ts';

test('a token says in words what it may do, and where', () => {
  const whole = { kind: 'INDIVIDUAL', scopes: ['RECORD'], products: null, devices: null, fields: null } as const;
  expect(tokenWords(whole)).toBe('May record values, in the whole workspace.');
  expect(tokenWords({ ...whole, devices: [{ name: 'Hall' }] })).toBe('May record values – only device “Hall”.');
  const four = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
  expect(tokenWords({ ...whole, products: four })).toBe('May record values – only products “a”, “b”, “c” and 1 more.');
  expect(tokenWords({ ...whole, products: [] })).toBe('May record values – only products that are gone.');
  const link = { ...whole, scopes: ['READ'], devices: [{ name: 'Hall' }], fields: ['t', 'h'] } as const;
  expect(tokenWords(link)).toBe('May see values – only device “Hall” and fields “t”, “h”.');
  expect(tokenWords({ ...whole, kind: 'PERSONAL' })).toMatch(/what its user may/);
});

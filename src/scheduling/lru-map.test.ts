import { expect, test } from 'vitest';
import { LruMap } from './lru-map.ts';

test('it never holds more than its bound and one entry, whatever is put into it', () => {
  const map = new LruMap<number, string>({ most: 100 });
  for (let key = 0; key < 10_000; key += 1) {
    map.set(key, `value ${key}`);
    expect(map.size).toBeLessThanOrEqual(101);
  }
  expect(map.get(9_999)).toBe('value 9999');
  expect(map.get(0)).toBeUndefined();
});

test('what is asked for stays, what is not goes', () => {
  const map = new LruMap<string, string>({ most: 10 });
  map.set('wanted', 'yes');
  for (let key = 0; key < 1_000; key += 1) {
    map.set(`passing ${key}`, 'no');
    expect(map.get('wanted')).toBe('yes');
  }
  expect(map.get('passing 0')).toBeUndefined();
});

test('weights are bounded, also when one entry alone is over the bound', () => {
  const map = new LruMap<number, string>({ most: 1_000, sizeOf: (text) => text.length });
  const held = (): number => [...map].reduce((sum, [, text]) => sum + text.length, 0);
  for (let key = 0; key < 200; key += 1) {
    map.set(key, 'x'.repeat(10 + ((key * 37) % 200)));
    expect(held()).toBeLessThanOrEqual(1_210);
  }
  map.set(-1, 'x'.repeat(5_000));
  map.set(-2, 'y');
  map.set(-3, 'x'.repeat(500));
  map.set(-4, 'z');
  map.set(-5, 'x'.repeat(500));
  expect(held()).toBeLessThanOrEqual(1_210);
});

test('a value set anew replaces the old one in both generations; what is deleted is gone from both', () => {
  const map = new LruMap<string, number>({ most: 4 });
  map.set('a', 1);
  map.set('b', 1);
  map.set('c', 1);
  map.set('a', 2);
  expect(map.get('a')).toBe(2);
  expect([...map].filter(([key]) => key === 'a')).toEqual([['a', 2]]);
  map.delete('a');
  map.delete('b');
  expect(map.get('a')).toBeUndefined();
  expect(map.get('b')).toBeUndefined();
  expect([...map]).toEqual([['c', 1]]);
  map.clear();
  expect(map.size).toBe(0);
});

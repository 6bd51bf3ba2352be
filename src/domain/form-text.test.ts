import { expect, test } from 'vitest';
import { mostNamesIn, parametersIn } from './form-text.ts';

test('whatever is in it, the names and values are those of URLSearchParams', () => {
  const parts = ['', 'a', '=', '&', '+', '%41', '%zz', 'ü', '?'];
  const twice = parts.flatMap((one) => parts.map((other) => one + other));
  for (const begin of twice)
    for (const end of twice) {
      const text = begin + end;
      expect([...parametersIn(text)], text).toEqual([...new URLSearchParams(text)]);
      expect(mostNamesIn(text)).toBeGreaterThanOrEqual(parametersIn(text).size);
    }
});

test('names without a value take no longer than others', () => {
  const tookMs = (text: string): number => {
    const from = performance.now();
    parametersIn(text);
    return performance.now() - from;
  };
  const least = (text: string): number => Math.min(tookMs(text), tookMs(text), tookMs(text));
  // By the square 160 ms and more.
  expect(least('a&'.repeat(131_072))).toBeLessThan(4 * least('a=&'.repeat(131_072)));
});

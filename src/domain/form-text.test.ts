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

function least(text: string, parse: (form: string) => unknown = parametersIn): number {
  const tookMs = (): number => {
    const from = performance.now();
    parse(text);
    return performance.now() - from;
  };
  return Math.min(tookMs(), tookMs(), tookMs());
}

test('names without a value take no longer than others', () => {
  // By the square 160 ms and more.
  expect(least('a&'.repeat(131_072))).toBeLessThan(4 * least('a=&'.repeat(131_072)));
});

test('what is no UTF-8 takes a part of what it takes Node', () => {
  const text = 'a=%ff&'.repeat(10_000);
  expect(least(text)).toBeLessThan(0.5 * least(text, (form) => new URLSearchParams(form)));
  expect(Error.stackTraceLimit).toBeGreaterThan(0);
});

import { afterEach, expect, test, vi } from 'vitest';
import { mostNamesIn, parametersIn } from './form-text.ts';

afterEach(() => void vi.unstubAllGlobals());

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

// How fast they are read `test/timed/texts.test.ts` sees.
test('names without a value come to Node with one, as it takes the square of the time without', () => {
  const texts: unknown[] = [];
  class Seen extends URLSearchParams {
    constructor(text: string) {
      texts.push(text);
      super(text);
    }
  }
  vi.stubGlobal('URLSearchParams', Seen);
  expect(parametersIn('a&b&c=1&d').size).toBe(4);
  expect(texts).toEqual(['?a=&b=&c=1&d=']);
});

test('what is no UTF-8 is an error to Node that looks for no places in the code', () => {
  const limits: number[] = [];
  class Seen extends URLSearchParams {
    constructor(text: string) {
      limits.push(Error.stackTraceLimit);
      super(text);
    }
  }
  vi.stubGlobal('URLSearchParams', Seen);
  parametersIn('a=%ff');
  expect(limits).toEqual([0]);
  expect(Error.stackTraceLimit).toBeGreaterThan(0);
});

test('a byte that is not UTF-8 is the character with its number, whatever stands beside it', () => {
  expect([...parametersIn('a=Gr%F6%DFe+%C3%A9%e4%bd%a0%ff%e4%bd&%B0=%F0%9F%92%A9%80%41')]).toEqual([
    ['a', 'Größe é你ÿä½'],
    ['°', '💩\u0080A'],
  ]);
});

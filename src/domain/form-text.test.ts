import { expect, test } from 'vitest';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { mostNamesIn, parametersIn } from './form-text.ts';

test('whatever is in it, the names and values are those of URLSearchParams', () => {
  const random = seededRandom(1);
  const parts = ['a', 'b', '=', '=', '&', '&', '+', '%41', '%zz', '%', 'ü', '?', ' ', '\n', '__proto__'];
  for (let time = 0; time < 3_000; time += 1) {
    const text = Array.from(
      { length: Math.floor(random() * 12) },
      () => parts[Math.floor(random() * parts.length)],
    ).join('');
    expect([...parametersIn(text)]).toEqual([...new URLSearchParams(text)]);
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

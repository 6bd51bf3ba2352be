import { expect, test } from 'vitest';
import { RowBytes } from './row-bytes.ts';

function written(write: (out: RowBytes) => void): string {
  const out = new RowBytes();
  write(out);
  return out.take().toString('utf8');
}

test('numbers are written as String writes them', () => {
  const odd = [0, -0, 0.1, -0.5, 0.001, 0.0001, 1e-7, 999_999_999.999, 1e9, 1e21, 5e-324, Number.MAX_VALUE, 2 ** 53];
  // Neighbours of what has few decimals have many.
  const near = [0.1 + 0.2, 1.005, 1.0049999999999999, 4.35, 0.1 * 3, 123456.789, 0.1 + 0.7];
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const many = Array.from({ length: 20_000 }, (_, at) => {
    const number = (random() - 0.5) * 10 ** (at % 14);
    return at % 3 === 0 ? number : Math.round(number * 10 ** (at % 5)) / 10 ** (at % 5);
  });
  const numbers = [...odd, ...near, ...many].flatMap((number) => [number, -number]);
  const lines = written((out) => {
    for (const number of numbers) {
      out.number(number);
      out.text('\n');
    }
  }).split('\n');
  expect(numbers.filter((number, at) => lines[at] !== String(number))).toEqual([]);
  expect(lines).toHaveLength(numbers.length + 1);
});

test('times are written as toISOString writes them', () => {
  const out = new RowBytes();
  const times = [0, 1, 86_399_999, 86_400_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999), 253_402_300_800_000, 8.64e15];
  for (const time of times) out.time(time);
  expect(out.take().toString()).toBe(times.map((time) => new Date(time).toISOString()).join(''));
});

test('texts of any kind and length come out as UTF-8', () => {
  const texts = ['plain', 'grüße', '☃', '😀', '\ud800', 'x'.repeat(200_000), 'é'.repeat(70_000)];
  const out = new RowBytes();
  for (const text of texts) out.text(text);
  expect(out.take().equals(Buffer.from(texts.join('')))).toBe(true);
  expect(out.length).toBe(0);
});

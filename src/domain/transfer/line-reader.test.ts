import { expect, test } from 'vitest';
import { LineReader } from './line-reader.ts';

const TEXT = '\uFEFFa,b\r\n\n  \n1,2\n\uFEFF3,4\nlast';
const LINES = [
  { line: 1, text: 'a,b' },
  { line: 4, text: '1,2' },
  // Not at the begin it is white space like any other.
  { line: 5, text: '3,4' },
  { line: 6, text: 'last' },
];

test.each([1, 2, 3, 5, 100])('lines keep their numbers however the text is cut (%i characters at a time)', (size) => {
  const reader = new LineReader();
  const lines = [];
  for (let at = 0; at < TEXT.length; at += size) lines.push(...reader.read(TEXT.slice(at, at + size)));
  expect([...lines, ...reader.end()]).toEqual(LINES);
  expect(reader.end()).toEqual([]);
});

test('a last line that ends with a line break is there once', () => {
  const reader = new LineReader();
  expect(reader.read('a\nb\n')).toEqual([
    { line: 1, text: 'a' },
    { line: 2, text: 'b' },
  ]);
  expect(reader.end()).toEqual([]);
});

test('a line that never ends is refused by its number, one of the largest size is not', () => {
  const reader = new LineReader();
  expect(reader.read(`a\nb\n${'x'.repeat(262_144)}`)).toHaveLength(2);
  expect(() => reader.read('x')).toThrow('Line 3 is longer than 262144 characters.');
  expect(() => new LineReader().read(`a\n${'x'.repeat(262_145)}`)).toThrow('Line 2 is');
  expect(() => new LineReader().read(`a\n${'x'.repeat(262_145)}\n`)).toThrow('Line 2 is');
});

test('a line that comes in small pieces is whole', () => {
  const reader = new LineReader();
  for (const piece of [`€${'x'.repeat(250_000)}`, ...Array<string>(10_000).fill('y')]) reader.read(piece);
  expect(reader.end()[0]?.text).toHaveLength(260_001);
});

import { expect, test } from 'vitest';
import { lineDifference } from './line-difference.ts';

const SIGNS = { same: ' ', gone: '-', new: '+' };

function shown(before: string, after: string): string {
  return lineDifference(before, after)
    .map(({ kind, text }) => SIGNS[kind] + text)
    .join('|');
}

test('what both texts have stays, the rest is gone or new', () => {
  expect(shown('a\nb\nc', 'a\nx\nc')).toBe(' a|-b|+x| c');
  expect(shown('a\nb\nc\nd\ne', 'b\nc\nX\ne\nf')).toBe('-a| b| c|-d|+X| e|+f');
  expect(shown('a\na', 'a\na\na')).toBe(' a| a|+a');
  expect(shown('same', 'same')).toBe(' same');
});

test('two long texts without a line in common are shown as replaced, at once', () => {
  const before = Array.from({ length: 5_000 }, (_, at) => `old ${at}`).join('\n');
  const after = Array.from({ length: 5_000 }, (_, at) => `new ${at}`).join('\n');
  const lines = lineDifference(before, after);
  expect(lines.filter(({ kind }) => kind === 'gone')).toHaveLength(5_000);
  expect(lines.filter(({ kind }) => kind === 'new')).toHaveLength(5_000);
});

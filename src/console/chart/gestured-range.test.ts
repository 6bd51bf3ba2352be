import { expect, test } from 'vitest';
import { gesturedRange } from './gestured-range.ts';

const HOUR = { from: 0, to: 3_600_000 };

test('one finger takes the stretch along', () => {
  // 360 pixels are an hour: 36 to the right are six minutes back.
  const moved = gesturedRange(HOUR, { dx: 36, dy: 5, factor: 1, at: { x: 200, y: 0 } }, 40, 360);
  expect(moved).toEqual({ from: -360_000, to: 3_240_000 });
});

test('two fingers draw it closer around what is between them', () => {
  const closer = gesturedRange(HOUR, { dx: 0, dy: 0, factor: 2, at: { x: 40 + 90, y: 0 } }, 40, 360);
  expect(closer).toEqual({ from: 450_000, to: 2_250_000 });
});

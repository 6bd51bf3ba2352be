import { expect, test, vi } from 'vitest';
import { lineEndsIn, RecordCutter } from './record-cutter.ts';

test('no character of a record is looked at twice, and all are put together a few times, however small the pieces', () => {
  let looked = 0;
  const cutter = new RecordCutter((piece) => {
    looked += piece.length;
    return lineEndsIn(piece);
  });
  const pieces = ['x'.repeat(250_000), ...Array<string>(10_000).fill('y')];
  const joining = vi.spyOn(Array.prototype, 'join');
  let joined = 0;
  try {
    for (const piece of pieces) expect(cutter.cut(piece)).toEqual([]);
    expect(cutter.rest()).toHaveLength(260_000);
    for (const { type, value } of joining.mock.results) if (type === 'return') joined += value.length;
  } finally {
    joining.mockRestore();
  }
  expect(looked).toBe(260_000);
  // With each piece it would be 2,600 millions.
  expect(joined).toBeLessThan(15 * 260_000);
});

import { expect, test } from 'vitest';
import { valueMarks } from './value-marks.ts';

test('marks stand at round values inside the axis', () => {
  expect(valueMarks(-0.25, 0.35, 0.1)).toEqual([-0.2, -0.1, 0, 0.1, 0.2, 0.3]);
  expect(valueMarks(20, 30, 5)).toEqual([20, 25, 30]);
  expect(valueMarks(21, 24, 5)).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import { mergeValues } from './merge-values.ts';

const columns = { timestamps: [10, 20, 30], values: [1, 2, 3] };
const point = (timestamp: number, value: number) => ({ timestamp, value });

describe('live values put into a series', () => {
  test('go behind it, between its values and before them, in whatever order they come', () => {
    expect(mergeValues(columns, [point(40, 4), point(5, 0), point(25, 2.5)])).toEqual({
      timestamps: [5, 10, 20, 25, 30, 40],
      values: [0, 1, 2, 2.5, 3, 4],
    });
  });

  test('replace what was measured at the same moment; of two the later counts', () => {
    expect(mergeValues(columns, [point(20, 7), point(40, 1), point(40, 9)])).toEqual({
      timestamps: [10, 20, 30, 40],
      values: [1, 7, 3, 9],
    });
  });

  test('twice the same changes nothing', () => {
    const once = mergeValues(columns, [point(40, 4)]);
    expect(mergeValues(once, [point(40, 4)])).toEqual(once);
  });

  test('what has moved out of the range goes, but for the value with which the line comes in', () => {
    expect(mergeValues(columns, [point(40, 4)], 25)).toEqual({ timestamps: [20, 30, 40], values: [2, 3, 4] });
    expect(mergeValues(columns, [], 35)).toEqual({ timestamps: [30], values: [3] });
    expect(mergeValues(columns, [], 20)).toEqual({ timestamps: [20, 30], values: [2, 3] });
  });

  test('nothing to do hands back the same columns', () => {
    const { timestamps } = mergeValues(columns, [], 10);
    expect(timestamps).toBe(columns.timestamps);
    expect(mergeValues({ timestamps: [], values: [] }, [])).toEqual({ timestamps: [], values: [] });
  });
});

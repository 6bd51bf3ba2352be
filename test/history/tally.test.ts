import { expect, test } from 'vitest';
import { addNumbers, addSummary, averageOf, openTally, sumOf } from '../../src/domain/history/tally.ts';
import { summarize } from '../../src/domain/measurements/summarize.ts';

function tallyOf(values: number[]) {
  const tally = openTally(values[0]!, 0);
  const timestamps = Float64Array.from(values.keys());
  addNumbers(tally, timestamps, Float64Array.from(values), 0, values.length, Infinity);
  return tally;
}

test('what is small is not lost beside what is large, whichever comes first', () => {
  for (const values of [
    [1, 1e100, 1, -1e100],
    [1e100, 1, -1e100, 1],
  ]) {
    expect(sumOf(tallyOf(values))).toBe(2);
    expect(averageOf(tallyOf(values))).toBe(0.5);
  }
});

test('nor when a part of it is known by its summary alone', () => {
  for (const [before, summed, after] of [
    [[1], [1e100], [1, -1e100]],
    [[1e100], [1], [-1e100, 1]],
  ] as const) {
    const tally = tallyOf([...before]);
    addSummary(tally, summarize(Float64Array.of(5), Float64Array.from(summed))!, 1, 5);
    addNumbers(tally, Float64Array.of(6, 7), Float64Array.from(after), 0, 2, Infinity);
    expect(sumOf(tally)).toBe(2);
    expect(tally).toMatchObject({ count: 4, lastAt: 7, maxAt: before[0] === 1 ? 5 : 0 });
  }
});

import { expect, test } from 'vitest';
import { showGaps } from './show-gaps.ts';

const every = (seconds: number, count: number, from = 0): number[] =>
  Array.from({ length: count }, (_, i) => from + i * seconds);

test('a silence much longer than usual is a gap, in its middle', () => {
  const timestamps = [...every(60, 20), ...every(60, 20, 10_000)];
  const shown = showGaps({ timestamps, values: timestamps.map(() => 1) });
  expect(shown.timestamps).toHaveLength(41);
  expect(shown.values.indexOf(null)).toBe(20);
  expect(shown.timestamps[20]).toBe((19 * 60 + 10_000) / 2);
});

test('a missed message or two, even pauses and few values are none', () => {
  const missed = [...every(60, 20), ...every(60, 20, 20 * 60 + 120)];
  for (const timestamps of [missed, every(3_600, 50), [0, 1, 2, 86_400], []]) {
    const columns = { timestamps, values: timestamps.map(() => 1) };
    expect(showGaps(columns)).toEqual(columns);
  }
});

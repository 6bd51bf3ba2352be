import { expect, test } from 'vitest';
import { barWidth } from './bar-width.ts';
import { rangeMs } from './widgets.ts';

test('a stretch is shown as at most forty bars of a width that people know', () => {
  const widths = ['90m', '24h', '7d', '1mo', '1y', '99y'].map((range) => barWidth(rangeMs(range)).resolution);
  expect(widths).toEqual(['5m', '1h', '6h', '1d', '1mo', '1y']);
});

import { expect, test } from 'vitest';
import { toEvents } from './recorded-event.ts';

test('what an event takes in memory is counted once, however many are told of it', () => {
  const reading = {
    seq: '1',
    deviceKey: 1,
    timestamp: 1,
    storedAt: 1,
    fieldKeys: [1, 2],
    values: ['x'.repeat(100), 2],
  };
  const page = { upTo: 'b', readings: [reading], complete: true, expired: false };
  const [event] = toEvents(page, 'a');
  let passes = 0;
  Object.defineProperty(event!.values, Symbol.iterator, {
    value: () => {
      passes += 1;
      return Array.prototype.values.call(event!.values);
    },
  });
  expect([event!.bytes, event!.bytes, passes]).toEqual([796, 796, 1]);
});

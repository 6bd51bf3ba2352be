import { expect, test } from 'vitest';
import { toEvents } from './recorded-event.ts';
import type { RecordedPage, RecordedReading } from '../ports/store.ts';

const reading = (seq: number, deviceKey: number, storedAt: number): RecordedReading => ({
  seq: String(seq),
  deviceKey,
  timestamp: seq,
  storedAt,
  fieldKeys: [1],
  values: [seq],
});

function page(readings: RecordedReading[]): RecordedPage {
  return { expired: false, upTo: 'end', readings, complete: true, more: false };
}

const PAGE = page([
  reading(1, 1, 1_000),
  reading(2, 1, 1_040),
  reading(2, 2, 1_040),
  reading(3, 1, 1_050),
  reading(4, 1, 1_100),
  reading(5, 1, 1_151),
  reading(6, 1, 900),
]);

test('each commit of a device is an event of its own', () => {
  expect(toEvents(PAGE, 'begin').map(({ deviceKey, values }) => [deviceKey, values])).toEqual([
    [1, [1]],
    [1, [2]],
    [2, [2]],
    [1, [3]],
    [1, [4]],
    [1, [5]],
    [1, [6]],
  ]);
});

test('what one device recorded close together, and no other in between, is one event with the last one’s place', () => {
  const events = toEvents(PAGE, 'begin', 100);
  const after = (seq: number, deviceKey: number) => ({
    after: 'begin',
    between: { upTo: 'end', place: { seq: String(seq), deviceKey, timestamp: seq } },
  });
  expect(events.map(({ deviceKey, receivedAt, values, place }) => [deviceKey, receivedAt, values, place])).toEqual([
    [1, 1_000, [1, 2], after(2, 1)],
    [2, 1_040, [2], after(2, 2)],
    [1, 1_050, [3, 4], after(4, 1)],
    // 101 ms behind the first, and a clock that was set back by more.
    [1, 1_151, [5], after(5, 1)],
    [1, 900, [6], { after: 'end', between: null }],
  ]);
});

test('an event has two thousand values at most', () => {
  const many = page(Array.from({ length: 4_500 }, (_, at) => reading(at, 1, 1_000)));
  expect(toEvents(many, 'begin', 100).map(({ values }) => values.length)).toEqual([2_000, 2_000, 500]);
});

test('what an event takes in memory is counted once, however many are told of it', () => {
  const reading = {
    seq: '1',
    deviceKey: 1,
    timestamp: 1,
    storedAt: 1,
    fieldKeys: [1, 2],
    values: ['x'.repeat(100), 2],
  };
  const page = { upTo: 'b', readings: [reading], complete: true, more: false, expired: false };
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

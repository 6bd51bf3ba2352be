import { expect, test } from 'vitest';
import { LongReadings } from './long-readings.ts';
import type { Batch } from '../ports/store.ts';

const batchOf = (deviceKey: number, timestamps: number[]): Batch => ({
  deviceKey,
  receivedAt: 0,
  fieldKeys: timestamps.map(() => 1),
  timestamps,
  values: timestamps.map(() => 1),
});

test('what a device had written again last is expected of each moment of its next batch, for a minute', () => {
  let now = 0;
  const long = new LongReadings(() => now);
  expect(long.bytesFor(batchOf(1, [1, 2]))).toBe(0);
  long.note(new Map([[1, { readings: 2, bytes: 2_000_000 }]]));
  expect(long.bytesFor(batchOf(1, [1, 1]))).toBe(1_000_000);
  // Of three no more than the two of before.
  expect(long.bytesFor(batchOf(1, [1, 2, 2, 3]))).toBe(2_000_000);
  expect(long.bytesFor(batchOf(2, [1]))).toBe(0);
  now = 50_000;
  long.note(new Map([[1, { readings: 1, bytes: 500_000 }]]));
  now = 100_000;
  expect(long.bytesFor(batchOf(1, [1]))).toBe(500_000);
  now = 111_000;
  expect(long.bytesFor(batchOf(1, [1]))).toBe(0);
});

test('a few of those that come next make the many before them no fewer, for some seconds', () => {
  let now = 0;
  const long = new LongReadings(() => now);
  const batch = batchOf(1, [1, 2, 3, 4]);
  long.note(new Map([[1, { readings: 3, bytes: 60_000 }]]));
  for (now = 2_000; now < 5_000; now += 2_000) {
    long.note(new Map([[1, { readings: 1, bytes: 20_000 }]]));
    expect(long.bytesFor(batch)).toBe(60_000);
  }
  now = 6_000;
  long.note(new Map([[1, { readings: 1, bytes: 20_000 }]]));
  expect(long.bytesFor(batch)).toBe(20_000);
  long.note(new Map([[1, { readings: 4, bytes: 80_000 }]]));
  expect(long.bytesFor(batch)).toBe(80_000);
});

test('of ten thousand devices at most', () => {
  const long = new LongReadings(() => 0);
  for (let device = 0; device <= 10_000; device += 1) long.note(new Map([[device, { readings: 1, bytes: 20_000 }]]));
  expect(long.bytesFor(batchOf(0, [1]))).toBe(0);
  expect(long.bytesFor(batchOf(1, [1]))).toBe(20_000);
});

import { expect, test } from 'vitest';
import { placeText, readPlace } from './place.ts';
import { nearestInTime, trackOf } from './track.ts';

test('places are read as the API writes them, and nothing else', () => {
  expect(readPlace('(52.52,-13.4)')).toEqual({ latitude: 52.52, longitude: -13.4 });
  expect(readPlace('(1e-7,180)')).toEqual({ latitude: 1e-7, longitude: 180 });
  expect(readPlace('somewhere')).toBeNull();
  expect(readPlace(12)).toBeNull();
  expect(placeText({ latitude: -33.868_82, longitude: 151.209_296 })).toBe('33.86882° S, 151.2093° E');
});

test('a way across the date line goes on to the same side', () => {
  const track = trackOf({ timestamps: [1, 2, 3, 4], values: ['(0,179.5)', '(0,-179.5)', '(0,-178)', '(0,179)'] });
  expect(track.map(({ place }) => place.longitude)).toEqual([179.5, 180.5, 182, 179]);
  expect(placeText(track[2]!.place)).toBe('0° N, 178° W');
});

test('where a device was silent for long the way is unknown', () => {
  const timestamps = Array.from({ length: 30 }, (_, i) => (i < 15 ? i * 60 : 9_000 + i * 60));
  const track = trackOf({ timestamps, values: timestamps.map((at) => `(1,${at / 1e5})`) });
  expect(track.length).toBe(30);
  expect(track.flatMap(({ afterGap }, at) => (afterGap ? [at] : []))).toEqual([15]);
});

test('the nearest in time is found at both ends and between', () => {
  const track = trackOf({ timestamps: [10, 20, 40], values: ['(1,1)', '(1,2)', '(1,3)'] });
  expect([0, 14, 16, 31, 99].map((time) => nearestInTime(track, time))).toEqual([0, 0, 1, 2, 2]);
  expect(nearestInTime([], 5)).toBeNull();
});

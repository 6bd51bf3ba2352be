import { expect, test } from 'vitest';
import { NameIndex } from './name-index.ts';

const NAMES = new NameIndex(['temperature', 'pm2_5', 'Door', 'DOOR', 'rh', 'wind_speed']);

test.each([
  ['Temperature', 'temperature', 'temperature'],
  ['temprature', 'temperature', null],
  ['tempperature', 'temperature', null],
  ['temperatrue', 'temperature', null],
  ['temperaturx', 'temperature', null],
  ['PM2.5', 'pm2_5', null],
  ['wind speed', 'wind_speed', null],
  ['Wind_Speed', 'wind_speed', 'wind_speed'],
  ['door', 'Door', null],
  ['rx', null, null],
  ['humidity', null, null],
  ['', null, null],
  ['---', null, null],
  ['x'.repeat(100), null, null],
])('%s', (given, nearest, inOtherCapitals) => {
  expect(NAMES.nearest(given)).toBe(nearest);
  expect(NAMES.inOtherCapitals(given)).toBe(inOtherCapitals);
});

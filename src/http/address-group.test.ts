import { expect, test } from 'vitest';
import { addressGroup } from './address-group.ts';

test.each([
  [undefined, ''],
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:0DB8::1', '2001:db8:0:0'],
  ['2001:db8:0000:00a0::1', '2001:db8:0:a0'],
  ['::1', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
])('%s stands for %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test.each([
  '',
  '::',
  ':',
  ':::',
  '1:2:3:4:5::6:7:8:9',
  '::'.repeat(5000),
  `${'1:'.repeat(9)}:${':1'.repeat(9)}`,
  '%',
  '𝟙',
])('any text stands for something: %s', (text) => {
  expect(addressGroup(text)).toBeTypeOf('string');
});

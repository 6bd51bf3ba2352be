import { expect, test } from 'vitest';
import { placeOf, refusalOf } from './address-rules.ts';

const HOSTS = { allowPrivateNetworks: false, allowedHosts: new Set<string>() };

test.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])(
  '%s is public',
  (address) => expect(placeOf(address)).toBe('public'),
);

test.each(['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '::ffff:10.0.0.1', '64:ff9b::c0a8:101'])(
  '%s is in a private network',
  (address) => expect(placeOf(address)).toBe('private'),
);

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001:0:4136:e378::',
  '169.254.169.254',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  '224.0.0.1',
  '255.255.255.255',
  'localhost',
])('%s is for named hosts alone', (address) => expect(placeOf(address)).toBe('never'));

test('every address of a host is judged, and the refusal names the setting', () => {
  expect(refusalOf('x.example', ['8.8.8.8', '2606:4700::1111'], HOSTS)).toBeNull();
  expect(refusalOf('x.example', ['8.8.8.8', '10.0.0.1'], HOSTS)).toContain('WEBHOOK_PRIVATE_NETWORKS=allow');
  expect(refusalOf('x.example', ['8.8.8.8', '127.0.0.1'], HOSTS)).toContain('WEBHOOK_ALLOWED_HOSTS');
  const open = { ...HOSTS, allowPrivateNetworks: true };
  expect(refusalOf('x.example', ['10.0.0.1'], open)).toBeNull();
  expect(refusalOf('x.example', ['169.254.169.254'], open)).toContain('WEBHOOK_ALLOWED_HOSTS');
  const named = { ...HOSTS, allowedHosts: new Set(['x.example']) };
  expect(refusalOf('X.example', ['127.0.0.1'], named)).toBeNull();
  expect(refusalOf('y.x.example', ['127.0.0.1'], named)).toContain('y.x.example (127.0.0.1)');
});

test.each(['http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://127.1/', 'http://①②⑦.0.0.1/'])(
  'the host of %s is read as the address that it is',
  (url) => expect(refusalOf(new URL(url).hostname, [new URL(url).hostname], HOSTS)).toContain('127.0.0.1'),
);

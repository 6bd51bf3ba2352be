import { expect, test } from 'vitest';
import { TenantQuota, TenantQuotas } from './tenant-quota.ts';

test('callers share what all have together, and none has more than one alone', () => {
  const quota = new TenantQuota(0.3, 0.6);
  quota.divide(1, 1, 0);
  expect(quota.allowedMs(100)).toBeCloseTo(30);
  quota.divide(1, 6, 100);
  expect(quota.allowedMs(200)).toBeCloseTo(30 + 10);
  quota.divide(0, 0, 200);
  expect(quota.allowedMs(300)).toBeCloseTo(40 + 30);
});

test('however many they are, each has something', () => {
  const quota = new TenantQuota(0.3, 0.6);
  quota.divide(1, 1_000, 0);
  expect(quota.callerShare).toBe(0.01);
  quota.divide(5, 1_000, 0);
  expect(quota.callerShare).toBe(0.002);
  quota.divide(1_000, 1, 0);
  expect(quota.callerShare).toBe(0.001);
});

test('who is not counted anew has left', () => {
  const quota = new TenantQuota(0.3, 0.6);
  quota.divide(2, 30, 0);
  expect(quota.allowedMs(250)).toBeCloseTo(2.5);
  expect(quota.allowedMs(1_250)).toBeCloseTo(2.5 + 300);
});

test('tenants have equal parts, however many callers each of them has', () => {
  const quotas = new TenantQuotas(0.3, 0.6);
  const [many, one, gone] = ['many', 'one', 'gone'].map((tenant) => quotas.of(tenant));
  quotas.divide([gone!, gone!], 0);
  expect(gone!.callerShare).toBeCloseTo(0.3);
  quotas.divide([many!, many!, many!, one!, gone!], 0);
  expect([many!.callerShare, one!.callerShare, gone!.callerShare].map((share) => share.toFixed(4))).toEqual([
    '0.0667',
    '0.2000',
    '0.2000',
  ]);
  quotas.divide([many!, many!, many!, one!], 0);
  expect([many!.callerShare, one!.callerShare, gone!.callerShare]).toEqual(
    [0.1, 0.3, 0.3].map((share) => expect.closeTo(share)),
  );
});

test('a tenant that is forgotten begins anew, the others do not', () => {
  const quotas = new TenantQuotas(0.3, 0.6);
  const [kept, forgotten] = [quotas.of('kept'), quotas.of('forgotten')];
  quotas.keep(new Set([kept]));
  expect(quotas.of('kept')).toBe(kept);
  expect(quotas.of('forgotten')).not.toBe(forgotten);
});

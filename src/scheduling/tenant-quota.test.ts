import { expect, test } from 'vitest';
import { TenantQuota, TenantQuotas } from './tenant-quota.ts';

test('callers share what all have together, and none has more than one alone', () => {
  const allowance = new TenantQuota(0.3, 0.6);
  allowance.share(1, 1, 0);
  expect(allowance.total(100)).toBeCloseTo(30);
  allowance.share(1, 6, 100);
  expect(allowance.total(200)).toBeCloseTo(30 + 10);
  allowance.share(0, 0, 200);
  expect(allowance.total(300)).toBeCloseTo(40 + 30);
});

test('however many they are, each has something', () => {
  const allowance = new TenantQuota(0.3, 0.6);
  allowance.share(1, 1_000, 0);
  expect(allowance.each).toBe(0.01);
  allowance.share(5, 1_000, 0);
  expect(allowance.each).toBe(0.002);
  allowance.share(1_000, 1, 0);
  expect(allowance.each).toBe(0.001);
});

test('who is not counted anew has left', () => {
  const allowance = new TenantQuota(0.3, 0.6);
  allowance.share(2, 30, 0);
  expect(allowance.total(250)).toBeCloseTo(2.5);
  expect(allowance.total(1_250)).toBeCloseTo(2.5 + 300);
});

test('tenants have equal parts, however many callers each of them has', () => {
  const allowances = new TenantQuotas(0.3, 0.6);
  const [many, one, gone] = ['many', 'one', 'gone'].map((tenant) => allowances.of(tenant));
  allowances.share([gone!, gone!], 0);
  expect(gone!.each).toBeCloseTo(0.3);
  allowances.share([many!, many!, many!, one!, gone!], 0);
  expect([many!.each, one!.each, gone!.each].map((each) => each.toFixed(4))).toEqual(['0.0667', '0.2000', '0.2000']);
  allowances.share([many!, many!, many!, one!], 0);
  expect([many!.each, one!.each, gone!.each]).toEqual([0.1, 0.3, 0.3].map((each) => expect.closeTo(each)));
});

test('a tenant that is forgotten begins anew, the others do not', () => {
  const allowances = new TenantQuotas(0.3, 0.6);
  const [kept, forgotten] = [allowances.of('kept'), allowances.of('forgotten')];
  allowances.keep(new Set([kept]));
  expect(allowances.of('kept')).toBe(kept);
  expect(allowances.of('forgotten')).not.toBe(forgotten);
});
